// Guards of what outlives a process, a machine, and a restore.

import { ledger, type PlantedBug } from "../planted-bug.ts";

const spool = (test: string) => ({ file: "test/money/owed-spool.test.ts", test });
const owedDamage = (test: string) => ({ file: "src/ledger/group-commit/owed-spool.test.ts", test });
const sealed = (test: string) => ({ file: "src/database/backup/sealed-file.test.ts", test });
const receiver = (test: string) => ({ file: "test/database/synchronous-receiver.test.ts", test });
const plan = (test: string) => ({ file: "src/database/backup/restore-plan.test.ts", test });
const secondLoss = (test: string) => ({ file: "test/database/second-loss.test.ts", test });
const folder = (test: string) => ({ file: "test/database/backup-damage.test.ts", test });
const inBackup = (name: string, find: string, replace: string) => [
  { file: `src/database/backup/${name}`, find, replace },
];
const sealedFile = (find: string, replace: string) => ({ file: "src/database/backup/sealed-file.ts", find, replace });

const pruning = (test: string) => ({ file: "test/database/backup-prune.test.ts", test });
const ofMissing = (test: string) => ({ file: "test/app/missing-base.test.ts", test });
const drafts = (test: string) => ({ file: "src/database/backup/left-drafts.test.ts", test });
const inCompose = (name: string, find: string, replace: string) => [{ file: `src/app/compose/${name}`, find, replace }];

/** Each with the test that must notice it. */
export const BACKUP_BUGS: readonly PlantedBug[] = [
  {
    name: "a folder that was never verified looks as young as its oldest base backup",
    edits: inBackup("folder-state.ts", "(await readTime(root, FIRST_BASE, keys)) ??", ""),
    noticedBy: pruning("removes the oldest base backups and their log"),
  },
  {
    name: "a base backup of books that no service continues counts as the newest",
    edits: inBackup("folder-state.ts", "ours.find((each) => isOnWay(each, way))", "ours.find(() => true)"),
    noticedBy: pruning("keeps what leads to the books that went on from an older base backup"),
  },
  {
    name: "a folder without a base backup raises no alarm",
    edits: inCompose("backup.ts", "return at === null ? Infinity :", "return at === null ? 0 :"),
    noticedBy: ofMissing("a folder without a base backup has the age +Inf, and nothing to verify"),
  },
  {
    name: "base backups that fail one after the other raise no alarm",
    edits: inCompose("missing-base.ts", "this.#hasFailed = true;", ""),
    noticedBy: ofMissing("tries behind one that failed count as no base backup, until there is one"),
  },
  {
    name: "a base backup that is being taken is removed by another one",
    edits: inBackup("left-drafts.ts", "Math.max(...times)", "Math.min(...times)"),
    noticedBy: drafts("a draft that was begun long ago and is still written to is kept"),
  },
  {
    name: "commits do not wait for the base backup without which they cannot be restored",
    edits: inBackup("wal-receiver.ts", "if (options.isSynchronous === true) await base;", ""),
    noticedBy: { file: "test/database/base-window.test.ts", test: "has answered nothing by then" },
  },
  {
    name: "a damaged segment of the log is replaced by a part of it",
    edits: inBackup("timelines.ts", "if (!mayBeOpen) leastBytes = SEGMENT_BYTES;", ""),
    noticedBy: folder("is refused where a complete segment is damaged"),
  },
  {
    name: "a settlement that is owed in another history is settled",
    edits: [
      ledger(
        "group-commit/owed-spool.ts",
        "return entry.history !== null && isSameHistory(entry.history, history);",
        "return true;",
      ),
    ],
    noticedBy: spool("are never settled by"),
  },
  {
    name: "a settlement is stored when it has waited too long, and not before",
    edits: [
      ledger(
        "group-commit/group-commit.ts",
        "new Lane(database, () => this.#storeWaiting(index))",
        "new Lane(database)",
      ),
    ],
    noticedBy: spool("are on disk as soon as the database is away"),
  },
  {
    name: "a damaged line of owed settlements is taken for one",
    edits: [ledger("group-commit/owed-lines.ts", "piece.slice(0, 8) === checksumOf(text)", "text.length > 0")],
    noticedBy: owedDamage("survives each bit that falls over"),
  },
  {
    name: "a torn line costs the owed settlement behind it",
    edits: [
      ledger(
        "group-commit/owed-lines.ts",
        "line.slice(head, heads[place + 1])",
        "place === 0 ? line : line.slice(head)",
      ),
      ledger("group-commit/owed-lines.ts", "const pieces = heads.map", "const pieces = heads.slice(0, 1).map"),
    ],
    noticedBy: owedDamage("has a line that a torn write has cut, and the next one behind it"),
  },
  {
    name: "a file with damaged lines of owed settlements is removed",
    edits: [
      ledger(
        "group-commit/owed-spool.ts",
        "await link(path, path + ASIDE).catch(nullIfGone).catch(ignoreIfThere);",
        "",
      ),
    ],
    noticedBy: owedDamage(": the others are taken over, and the file is kept and listed"),
  },
  {
    name: "owed settlements that the disk did not take are forgotten",
    edits: [ledger("group-commit/owed-spool.ts", "this.#waiting = [...entries, ...this.#waiting];", "")],
    noticedBy: owedDamage("is counted, reported, and repeated with all that came since"),
  },
  {
    name: "an owed settlement is appended to a torn line",
    edits: [ledger("group-commit/owed-spool.ts", "if (size > begin) await file.truncate(begin);", "")],
    noticedBy: owedDamage("leaves nothing behind which the next line is appended"),
  },
  {
    name: "an owed file waits for a program that has its process's number",
    edits: [
      ledger(
        "group-commit/owed-process.ts",
        'return start === null || start === "0" || now === "0" || start === now;',
        'return now !== "";',
      ),
    ],
    noticedBy: owedDamage("takes over the file of a process whose number another program has"),
  },
  {
    name: "the receiver confirms what no disk has",
    edits: [sealedFile("await this.#file.datasync();", "")],
    noticedBy: sealed("is durable behind everything that was written when a flush returns"),
  },
  {
    name: "the receiver confirms what it has not written",
    edits: [sealedFile("if (this.#waitingBytes > 0) await this.#writeWaiting();", "")],
    noticedBy: receiver("has every answer when the machine is lost under load"),
  },
  {
    name: "the key of the secrets is not stored beside the log",
    edits: [
      {
        file: "src/database/backup/wal-receiver.ts",
        find: "    await storeKey();\n",
        replace: "    if (mustAnswer && false) await storeKey();\n",
      },
    ],
    noticedBy: receiver("has every answer when the machine is lost under load, and the key of the secrets"),
  },
  {
    name: "a server whose commits do not wait for the receiver is served",
    edits: [
      {
        file: "src/database/backup/wal-receiver.ts",
        find: "if (rows[0]?.synchronous_standby_names === RECEIVER) return;",
        replace: "if (rows[0] !== undefined) return;",
      },
    ],
    noticedBy: receiver("is refused on a server that another program has started without it"),
  },
  {
    name: "the service goes on while the receiver is away",
    edits: [
      {
        file: "src/app/config/config.ts",
        find: "requireSyncStandby: backupSynchronous || ",
        replace: "requireSyncStandby: ",
      },
    ],
    noticedBy: {
      file: "src/app/config/config.test.ts",
      test: "has commits wait for the receiver of the log only where",
    },
  },
  {
    name: "a backup without its end is accepted",
    edits: [sealedFile("if (mayBeOpen) return null;", "return null;")],
    noticedBy: sealed("is refused cut at any place"),
  },
  {
    name: "the frames of a backup may come in any order",
    edits: [
      sealedFile(
        "nonce.writeBigUInt64BE(BigInt(frame), NONCE_BYTES - 8);",
        "nonce.writeBigUInt64BE(BigInt(frame) * 0n, NONCE_BYTES - 8);",
      ),
    ],
    noticedBy: sealed("is refused with frames in another order"),
  },
  {
    name: "the mark of a backup's last frame may be set by anybody",
    edits: [
      sealedFile(
        "const sealed = await readBytes(file, size + TAG_BYTES);",
        "const sealed = await readBytes(file, size + TAG_BYTES); length.writeUInt32BE(size);",
      ),
      sealedFile(
        "const cipher = createCipheriv(CIPHER, this.#key, nonceOf(this.#frames), { authTagLength: TAG_BYTES }).setAAD(length);",
        "const cipher = createCipheriv(CIPHER, this.#key, nonceOf(this.#frames), { authTagLength: TAG_BYTES }).setAAD(lengthField(bytes.length, false));",
      ),
    ],
    noticedBy: sealed("is refused with any byte flipped"),
  },
  {
    name: "a process whose row a failover has lost counts as dead at once",
    edits: [
      ledger("recovery.ts", "AND (${withoutRow}::boolean OR EXISTS", "AND (true OR ${withoutRow}::boolean OR EXISTS"),
    ],
    noticedBy: { file: "test/money/recovery.test.ts", test: "deletes processes that have been dead for a day" },
  },
  {
    name: "a transfer that the chain has as paid is paid again after a restore",
    edits: [
      {
        file: "src/merchant/payouts/resume-wallet.ts",
        find: "if (!adopts) refuseToPayAgain(adoptions);",
        replace: "if (!adopts) adoptions.length = 0;",
      },
    ],
    noticedBy: {
      file: "test/merchant/payouts/evm-payouts.test.ts",
      test: "that the chain has as paid and restored books as open is adopted",
    },
  },
  {
    name: "a restored service admits requests",
    edits: [
      {
        file: "src/operator/commands/recovery.ts",
        find: "await stopAdmissions(by, { reason });",
        replace: "",
      },
    ],
    noticedBy: { file: "test/database/backup.test.ts", test: "is restored to a moment, with everything stopped" },
  },
  {
    name: "a restored service pays",
    edits: [
      {
        file: "src/operator/commands/recovery.ts",
        find: 'await stopPayouts(by, { chain: "", address: "", reason });',
        replace: "",
      },
    ],
    noticedBy: { file: "test/database/backup.test.ts", test: "is restored to a moment, with everything stopped" },
  },
  {
    name: "a restore reports success although no key opens its secrets",
    edits: [
      {
        file: "src/app/compose/secrets.ts",
        find: "[own])]);\n  await requireSecretsKey(pool, SECRET_COLUMNS);",
        replace: "[own])]);\n  if (secretsKeys.length > 99) await requireSecretsKey(pool, SECRET_COLUMNS);",
      },
    ],
    noticedBy: { file: "test/database/backup.test.ts", test: "is not restored where no key opens its secrets" },
  },
  {
    name: "a restore follows only the timeline of its base backup",
    edits: inBackup(
      "restore-plan.ts",
      "const wanted = timeline ?? newestOf(timelines, { based, until });",
      "const wanted = timeline ?? Math.min(newestOf(timelines, { based, until }), newest.facts.timeline);",
    ),
    noticedBy: secondLoss("has every answer that was acknowledged behind the first restore"),
  },
  {
    name: "a restore reports success although the log has a hole before its moment",
    edits: inBackup(
      "restore-cluster.ts",
      "if (hole === null || (replayed !== null && replayed >= until)) return;",
      "if (hole !== undefined || (replayed !== null && replayed >= until)) return;",
    ),
    noticedBy: secondLoss("is refused where the log has a hole before the moment"),
  },
  {
    name: "a restore follows a timeline on which nothing was received",
    edits: inBackup(
      "timelines.ts",
      "return start + BigInt(bytes?.length ?? SEGMENT_BYTES) > position;",
      "return bytes !== undefined;",
    ),
    noticedBy: plan("follows the newest timeline whose log was received"),
  },
  {
    name: "a restore begins with a base backup that does not lead to its timeline",
    edits: inBackup(
      "timelines.ts",
      "return at !== -1 && (next === undefined || parseLsn(facts.endLsn) <= next.from);",
      "return at !== -1 || next === undefined;",
    ),
    noticedBy: plan("takes no base backup from behind the position"),
  },
  {
    name: "a restore to a moment follows a timeline of later",
    edits: inBackup(
      "restore-plan.ts",
      "({ number, madeAt }) => until === null || madeAt === null || madeAt <= until || based.has(number),",
      "({ number, madeAt }) => until !== undefined || madeAt === null || based.has(number),",
    ),
    noticedBy: plan("follows the timeline that was there at the moment"),
  },
  {
    name: "a backup is verified although its key does not open the books",
    edits: [
      {
        file: "src/commands/backup.ts",
        find: "await requireRestoredKey(database, { ...config, dataDir: restored.dataDir, restored: restored.secretsKey });",
        replace: "",
      },
    ],
    noticedBy: folder("is verified only where its key opens the books"),
  },
  {
    name: "a backup is taken with a key that does not open the books",
    edits: [
      {
        file: "src/app/compose/secrets.ts",
        find: "  await requireSecretsKey(pool, SECRET_COLUMNS);\n  return own;",
        replace: "  return own;",
      },
    ],
    noticedBy: folder("is verified only where its key opens the books, and none is taken with a key that does not"),
  },
  {
    name: "the key of the secrets stays under a former key of backups",
    edits: inBackup(
      "backup-folder.ts",
      "if ((await readIfReadable(file, keys.slice(0, 1)))?.toString() === key) return;",
      "if ((await readIfReadable(file, keys))?.toString() === key) return;",
    ),
    noticedBy: folder("goes on under another key"),
  },
  {
    name: "a receiver whose slot was lost never begins again",
    edits: inBackup(
      "wal-receiver.ts",
      "  if (position !== null) return position;\n  // A slot",
      "  if (position !== undefined) return position;\n  // A slot",
    ),
    noticedBy: { file: "test/database/lost-slot.test.ts", test: "begins again with a base backup" },
  },
  {
    name: "log is received that no base backup leads to",
    edits: inBackup(
      "restore-plan.ts",
      "return ours.some((each) => findHole(each, way, { segments, end: from }) === null);",
      "return ours.length >= 0 || findHole === undefined;",
    ),
    noticedBy: { file: "test/database/lost-slot.test.ts", test: "begins again with a base backup" },
  },
  {
    name: "pruning removes log that a kept base backup needs",
    edits: inBackup(
      "prune.ts",
      "reduce((one, other) => (one < other ? one : other))",
      "reduce((one, other) => (one > other ? one : other))",
    ),
    noticedBy: { file: "test/database/backup-prune.test.ts", test: "removes the oldest base backups and their log" },
  },
  {
    name: "pruning leaves only a base backup that cannot be read",
    edits: inBackup(
      "prune.ts",
      "if (newest !== undefined) await requireSound(newest, { keys, unreadable });",
      "if (newest === undefined) await requireSound(newest, { keys, unreadable });",
    ),
    noticedBy: {
      file: "test/database/backup-prune.test.ts",
      test: "is refused where the newest base backup cannot be read",
    },
  },
  {
    name: "pruning removes the only base backup that leads to the newest timeline",
    edits: inBackup("prune.ts", "...leading.slice(0, keep)", "...leading.slice(0, 0)"),
    noticedBy: {
      file: "test/database/backup-prune.test.ts",
      test: "keeps what leads to the books that went on from an older base backup",
    },
  },
  {
    name: "pruning does not read what leads to the newest timeline",
    edits: inBackup("prune.ts", "new Set([leading[0], all[0]])", "new Set([all[0]])"),
    noticedBy: {
      file: "test/database/backup-prune.test.ts",
      test: "keeps what leads to the books that went on from an older base backup",
    },
  },
];
