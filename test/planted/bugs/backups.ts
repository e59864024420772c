// Guards of backups: the log that is received, base backups, and what is pruned.

import { type PlantedBug } from "../planted-bug.ts";

const sealed = (test: string) => ({ file: "src/database/backup/sealed-file.test.ts", test });
const receiver = (test: string) => ({ file: "test/database/synchronous-receiver.test.ts", test });
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
