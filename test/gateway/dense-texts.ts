// Texts with more tokens than words of their length, with the most tokens that any of five published tokenizers makes of them.
// `fixtures/token-counts.md` names the packages.

/** `tokens`: the most of all five. `by`: the first tokenizer that makes so many. */
export type DenseText = { readonly kind: string; readonly text: string; readonly tokens: number; readonly by: string };

/** Each was made at random, by a generator of numbers that began with 7. */
export const DENSE_TEXTS: readonly DenseText[] = [
  {
    kind: "small letters",
    text: "phozrnwxbzffzbjabryvtbqmfxbudastwvvtaidrjhuiwofmokhvpjspkogcpnlhlcufdwpqygmkqrgeqahutljnghvhpbwrlevhflujakczhopxszgfmkun",
    tokens: 67,
    by: "llama-3",
  },
  {
    kind: "letters of both sizes",
    text: "XOAVuEUyrMUTjmrchIQmCojFHVVmJgQrqKfRsoFyCWxZdEHiFNEcUywQNiUqfldNNEavQxjliFEqIgSfZhneJwJbdagzdZqhlqyAYKFioPNzeLMdfqlnHCSC",
    tokens: 81,
    by: "llama-3",
  },
  {
    kind: "capitals",
    text: "WNDQNNUZQRWIXMWYYWOASCPAYAWVBLCNBIFLUUYJVONDONCHAEIHNZNPXYYOTCDMYQAETUSUKBFRRLQGHAWYCKIUWCFCRINZGRZZQRPVQOUNCHZWZRDRHZQF",
    tokens: 68,
    by: "deepseek-v3",
  },
  {
    kind: "base64",
    text: "8HlWccxSZiLMJkFxjQsjg1G248m9mDtLgfCk9QRdMDmiOeM2QKioggacKhDc5jvh/WaC1lm79EWM1QRwYjx+7skuKSyR5M4REi5zuisW5LPYq4JAapGxR8tbzasdjVkkMkO+6UxNSQSUbdbyq8s65xQmu6UJNHys",
    tokens: 119,
    by: "qwen-3",
  },
  {
    kind: "hexadecimal",
    text: "5f06c0ebb61972724de4231b9a5807850b62675255bea74e12c8a03a4c9c385ecae5960206ba4ecc469a0c64842056621725666b63bfc386dac03117acc68790302c7ca830c45376a560073886ba6d82",
    tokens: 144,
    by: "qwen-3",
  },
  {
    kind: "digits",
    text: "525953664561808837943004869995929188587238639611641731871338230016736847100309922378604752298889127308765778720179318416",
    tokens: 120,
    by: "gemini",
  },
  {
    kind: "amounts",
    text: "510.38,690.68,289.67,422.33,441.24,192.21,1.33,776.91,697.06,75.98,303.6,9.79,366.91,157.73,42.88,787.45,223.42,937.32,172.27,726.81,361.81,498.23,820.88,577.34,307.84,359.19,776.64,890.05,82.66,965.2",
    tokens: 200,
    by: "gemini",
  },
  {
    kind: "signs",
    text: "%}=@[/>_(>([=[.*#/@-%^[;~|_:/);,]<)|;;.:[~*])>@_/.(:})*_[&+/>~$}/-.++{.=!:]{@/%/]{$?%.,{/=[&$;}+*,@>@/%%&&-=#!#&{({!-!%)",
    tokens: 83,
    by: "deepseek-v3",
  },
  {
    kind: "letters and signs",
    text: "t~o&r;t~i:s_u&q]v]u.y?q|n_c/c;z@w?h;i^o=r*v-r:q<b~g~m#x)a.z.u;f(w)d!t|n#m;f:o%c?x}c,a:y<i#k~y|a>n(j&r#o=k]t-y[n.n(z*x%g/",
    tokens: 120,
    by: "claude-2",
  },
  {
    kind: "letters and digits",
    text: "b5t2b2l6h4g8l2a7i4h8z3j6v4d2n6t2u3b6o7j1p3k3i9m4n4s8f1b1n2d3a1u7g2c5n4k2s5h8g4s4t7a7w3j9d9t7e9m5f7w0u8c3a5s8f4l4z0n7z2t4",
    tokens: 120,
    by: "claude-2",
  },
  {
    kind: "single letters",
    text: "t k u a r b t q f w z z v v e g t s m h s p q o b s q f a t v l n f y y g w q q i h h z x z j h a l x k n y q h k e s n",
    tokens: 60,
    by: "claude-2",
  },
  {
    kind: "syllables",
    text: "mirotheonanonaninrosatercoonintherolionsaancoinliontercoteronontheinonroinmitercosaonaninthesaterinterterteraninsaaninlionaninsaterro",
    tokens: 48,
    by: "claude-2",
  },
  {
    kind: "a syllable again and again",
    text: "erererererererererererererererererererererererererererererererererererererererererererererererererererererererererererer",
    tokens: 60,
    by: "claude-2",
  },
  {
    kind: "names in camel case",
    text: "JtannrKesstsEansssQnnrttWnstitItroiaYoiteaCsottsQiiretVtrtetSrsoatZasaotEiaettGnonriOsrtaoGsososNaeornFnoeioMaaosaZessii",
    tokens: 62,
    by: "claude-2",
  },
  {
    kind: "spaces and tabs",
    text: "\t\t  \t\t \t\t\t  \t\t\t\t  \t  \t \t\t\t  \t\t\t\t \t\t\t\t\t\t\t\t    \t\t   \t\t  \t\t \t\t\t \t  \t   \t \t\t\t\t\t\t  \t \t \t\t   \t\t\t\t\t\t \t\t         \t\t  \t \t\t\t\t\t  \t\t",
    tokens: 51,
    by: "gemini",
  },
  {
    kind: "line breaks and spaces",
    text: " \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n \n",
    tokens: 120,
    by: "gemini",
  },
  {
    kind: "signs and spaces",
    text: "{ , = , ? & _ { ^ ^ { $ ( > < @ : / ( & ( _ [ # ! | ] : > @ ? / ^ _ { ; . / [ , / > { * # . ( - $ % { ? . ^ ! | } % [ !",
    tokens: 60,
    by: "claude-2",
  },
  {
    kind: "Latin with accents",
    text: "ÿÈÑÇèúÝÁÅÉÎâÈÊÆÙÒÆàîÛÑïêÜÛîßÏÂåÌÝúðÞÎèÑîï÷Ì÷ôÆãÒÇÐôÖíØáÝØæÛÊ",
    tokens: 92,
    by: "claude-2",
  },
  { kind: "Greek", text: "ξθμτφμυαωεωφηνυτιλοινοψχπνηιηορθζχνευφχδθπσρδπημλφωπωιξαυρθε", tokens: 77, by: "claude-2" },
  {
    kind: "Cyrillic",
    text: "чгыыцибпдпыъспзярбнлыиаглчцамажтмсихьглчпрдаглцкыьшюцыдачюои",
    tokens: 52,
    by: "claude-2",
  },
  { kind: "Hebrew", text: "צדצהךזןםטצפפןחידשיםסישףתרלףםףפןלשפכעםיףפעהנמפלגמלםצמסאזכצצצג", tokens: 93, by: "llama-3" },
  { kind: "Arabic", text: "جةغذةخطتقصؿجؼقتـقـلجؼضؽجػشؿهثكؽطفكمرلحةخاقؾهمؾعلفضػؽفجضبرـكق", tokens: 80, by: "claude-2" },
  { kind: "Thai", text: "ฬชถฅฤชฟฌภอหขปซฝพฉฆรพฬณคชศยฆฉปดอจฅสะยฐวนงกสขงกฏญฉฆปยฝฦถฉภมภรผ", tokens: 118, by: "claude-2" },
  {
    kind: "Devanagari",
    text: "खऐऱघपऱनझछटऒफझऐऍउळठलजधऴहईऔचऩऑतदऍकउऋऴथएपऊऩखऩइखगभञङछऊऐधओऑहऒढऒयग",
    tokens: 114,
    by: "claude-2",
  },
  { kind: "Tamil", text: "ச஖ஙபன஝ர஦஦ர஬பற஛ழனஹஶ஬ஞனச஦ர஠஦஠ர஝ட஢ஜலட஝சர஦஡஝னட஖மன஘ஜபஹ஫ஜ஛ஶயலஸ஥ஜ஥஠", tokens: 120, by: "claude-2" },
  {
    kind: "kana",
    text: "ゐぴゖとぴぅょぎぃりこだょのればだてぇぞぷのぁぱえくらぃゑわずぜおつんゕさしげょはげゃぉぉぷこゖにだりにはいめろぼげぜぺ",
    tokens: 92,
    by: "claude-2",
  },
  {
    kind: "Hangul",
    text: "폧훿쾬샘픲쀅띇봘넞쌧휀웧뺺좌쁜쫱즰뫖텸턘퍕즉뵗뷔멖뺅팦닼샬튫뇘쬬륪듯뙚쪰쵩꾍뷧먐낄뻵웫녈쌶힡릓칾놇혣넨죬흣햨팓듛퐦잶칔퇪",
    tokens: 160,
    by: "gemini",
  },
  {
    kind: "rare Chinese",
    text: "䈎䐚㻖䬥䶴䂈䏢䃽䙟㝊㙲䓫䌹䶇㾹㼌㗱䮉㒴㗂䔰㽣䮛㮾㿧䱑㼽䚾䓢䎻㝌䥄䝚㽹䘮㴛㨑㟧䱕䆖㩬㣲䙥㨈㲚㨔㳕䬌䉊䮡㔔㠥㑖䪝䫰䫄䜾㤍㘈䘬",
    tokens: 180,
    by: "gemini",
  },
  {
    kind: "Ethiopic",
    text: "ትተኽቯቔሰ቙ቡኛውቢሏቭዓማቕኍቊ዗ቫቺኡኞፂሷኵፈዒዼ቎ቮጣቺቾዋጫቯታጵሰቸጀኡኤነኑጿጊ኏ኯሿጐደቭቕቧዣ኉ሼረ",
    tokens: 179,
    by: "claude-2",
  },
  {
    kind: "emoji",
    text: "🌲🐳🎪📥🎮🔓🌂💢🖲🕇🎒🎸🌳🗻🗸🏊🏜💋🕠🍣🔳🐮🏘🗦📄🖬🔃🌘🔔💩🌇📅🖔📘💈🍠📿🍾🔂🗝",
    tokens: 114,
    by: "llama-3",
  },
  { kind: "cuneiform", text: "𒊚𒌇𒇌𒇬𒄭𒎎𒌽𒈗𒄧𒅱𒊽𒋈𒅏𒀣𒅰𒆽𒁣𒁚𒌏𒅊𒍮𒉬𒃪𒍘𒄑𒁘𒆶𒁊𒂎𒅧𒁾𒋳𒄄𒅮𒅴𒉩𒆮𒌥𒇯𒄮", tokens: 160, by: "gemini" },
  { kind: "phrases of Arabic", text: "ﷵﷳﷺﷲﷰﷲﷹﷶﷲﷹﷴﷷﷱﷷﷵﷴﷲﷻﷷﷳﷹﷴﷺﷴﷳﷳﷳﷻﷵﷴ", tokens: 141, by: "claude-2" },
  {
    kind: "squared words",
    text: "㍀㌻㍉㌍㌭㌬㍐㌆㌧㍈㌈㍁㌯㌫㌛㌑㌆㌴㍋㍅㌬㌿㌖㌖㍄㌴㌁㌻㌕㍐㌘㌶㍐㌿㌪㌺㍔㌂㍌㌋",
    tokens: 151,
    by: "claude-2",
  },
];
