// Words that common passwords are made of. Written for this service from what public studies of leaked passwords report as
// frequent (keyboard rows, names, sports, feelings, defaults of devices) and from the same kinds of words in Indonesian. Copied
// from no list. A password that is only such words with digits and signs around them is refused by passwords.ts, so one word
// here covers thousands of passwords of twelve characters and more.

const LINES = [
  // Defaults and sign-in words.
  "password passwords passwort passcode passw pass pwd admin administrator root user guest login logon master secret default",
  "changeme change letmein welcome access security system server superuser super test testing tester temp temporary example",
  "sample demo qwerty qwert qwertz azerty asdf asdfgh zxcv zxcvbn qazwsx wsxedc abcd abcdef abc xyz hello hallo whatever",
  "nothing internet computer network office company manager account money bank cash credit wallet pay payment saldo gateway",
  // What this service and its callers are called.
  "merchant operator transfer topup payout upstream catalog ledger balance token model prompt crypto bitcoin ethereum tether usdt",
  // Feelings, people and animals.
  "iloveyou loveyou love lover lovely iloveu my mine your you me i the a is and for im am baby babe honey sweet sweetheart angel",
  "princess prince queen king boss friend friends forever family mother father mommy daddy sister brother happy sunshine",
  "monkey dragon tiger lion eagle shadow killer hunter ranger batman superman spiderman pokemon naruto ninja samurai cookie",
  "chocolate banana orange apple cherry flower butterfly rainbow summer winter spring autumn january february march april",
  "may june july august september october november december monday friday sunday football soccer baseball basketball hockey",
  "liverpool chelsea arsenal barcelona madrid juventus manchester united yankees steelers cowboys lakers mustang ferrari",
  "porsche mercedes toyota honda yamaha suzuki michael jordan jennifer jessica ashley daniel andrew thomas robert charlie",
  "george maggie ginger pepper buster harley samsung google facebook twitter instagram youtube android iphone microsoft windows",
  "linux oracle starwars matrix trustno trustnoone freedom fuckyou fuck bitch whatever jesus christ god blessed heaven",
  "america england london paris berlin china japan india canada russia australia singapore malaysia",
  // Indonesian.
  "katasandi sandi kata rahasia rahasiaku masuk kunci buka admin pengguna selamat datang indonesia merdeka garuda jakarta",
  "bandung surabaya medan semarang jogja yogyakarta bali malang bogor depok bekasi tangerang makassar palembang persib persija",
  "arema bismillah alhamdulillah allah allahu akbar assalamualaikum muhammad ahmad islam doa sayang sayangku sayangkamu cinta",
  "cintaku kamu aku kita kami saya dia rindu kangen anak ibu ayah mama papa bunda keluarga bahagia senang ganteng cantik",
  "manis lucu jelek gila bodoh anjing kucing babi kambing harimau naga uang duit rupiah gaji kerja kantor sekolah kuliah",
  "sukses semangat jaya abadi selamanya selalu satu dua tiga empat lima enam tujuh delapan sembilan nol budi andi dewi putri",
  "putra agus dian rina siti nur sari wulan bintang bulan matahari langit laut pelangi doraemon",
];

/** All of them, in lower case. */
export const COMMON_WORDS: ReadonlySet<string> = new Set(LINES.flatMap((line) => line.split(" ")));
