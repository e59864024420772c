// How the tokens of a request were counted, one sentence for each rule by which the server corrected or estimated them.
// The rules have stable names; an unknown one is shown by its name.

export const METERING_MESSAGES = {
  id: {
    thinking_in_total: "Token yang hanya ada di jumlah total dihitung sebagai output: model berpikir.",
    audio_in_total: "Token yang hanya ada di jumlah total dihitung sebagai audio.",
    impossible_count: "Satu angka dari upstream tidak mungkin (negatif, pecahan, atau terlalu besar) dan diperbaiki.",
    total_below_parts:
      "Jumlah total dari upstream lebih kecil daripada bagian-bagiannya; yang dipakai bagian-bagiannya.",
    input_above_bound: "Token input dari upstream melebihi yang mungkin untuk permintaan ini dan dipotong.",
    priced_otherwise:
      "Upstream melaporkan tingkat layanan, kecepatan, lokasi, atau alat tanpa harga di sini; tokennya ditagih seperti biasa.",
    long_writes_unasked: "Penulisan cache satu jam yang tidak diminta ditagih sebagai penulisan beberapa menit.",
    output_above_bound: "Token output dari upstream melebihi batas permintaan ini dan dipotong.",
    output_far_above_relayed:
      "Upstream melaporkan jauh lebih banyak daripada yang diteruskan; output dihitung oleh kami.",
    implausible_count: "Satu angka dari upstream lebih besar daripada kemampuan model mana pun dan tidak dipakai.",
    output_below_relayed: "Upstream melaporkan kurang dari separuh teks yang diteruskan; output dihitung oleh kami.",
    output_estimated: "Upstream tidak melaporkan token output; output dihitung oleh kami.",
    output_withheld: "Jawaban diakhiri lebih awal; yang tidak ditampilkan tidak ditagih.",
    input_estimated: "Upstream tidak melaporkan token input; input dihitung oleh kami.",
    cached_assumed: "Bagian dari cache dianggap sama dengan permintaan terakhir Anda yang awalnya sama.",
  },
  en: {
    thinking_in_total: "Tokens that only the total counts are billed as output: the model was thinking.",
    audio_in_total: "Tokens that only the total counts are billed as audio.",
    impossible_count:
      "A number from the upstream was impossible (negative, fractional or too large) and was corrected.",
    total_below_parts: "The upstream's total is less than its parts; the parts are billed.",
    input_above_bound: "The upstream reported more input than this request can have; the count was cut.",
    priced_otherwise:
      "The upstream reported a service tier, speed, place or tools without a price here; the tokens are billed as usual.",
    long_writes_unasked: "Cache writes for an hour that the request did not ask for are billed as writes for minutes.",
    output_above_bound: "The upstream reported more output than this request's bound; the count was cut.",
    output_far_above_relayed: "The upstream reported far more than was relayed; we counted the output.",
    implausible_count: "A number from the upstream is larger than any model allows and is not used.",
    output_below_relayed: "The upstream reported less than half of the relayed text; we counted the output.",
    output_estimated: "The upstream reported no output count; we counted the output.",
    output_withheld: "The answer was ended early; what was not shown is not billed.",
    input_estimated: "The upstream reported no input count; we counted the input.",
    cached_assumed: "The cached part is assumed from your last request, which begins with the same text.",
  },
};
