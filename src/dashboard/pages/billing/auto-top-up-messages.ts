// The messages of automatic top-ups on the page of billing.

export const AUTO_TOP_UP_MESSAGES = {
  id: {
    title: "Isi saldo otomatis",
    about:
      "Saat saldo turun di bawah batas, kami menagih metode pembayaran tersimpan Anda. Setiap tagihan diberitahukan lewat e-mail.",
    method: "Metode pembayaran",
    none: "Belum ada metode tersimpan.",
    withTax: (total: string, net: string, tax: string) => `${total} (${net} dan PPN ${tax})`,
    saveAbout: (amount: string) =>
      `Bayar ${amount} di halaman penyedia. Dengan melanjutkan, Anda setuju metode itu disimpan dan ditagih sesuai pengaturan ini. Nomor kartu tidak kami simpan.`,
    saveMethod: "Bayar dan simpan metode",
    replaceMethod: "Ganti metode",
    removeMethod: "Hapus metode",
    removed: "Metode dihapus, isi saldo otomatis dimatikan",
    isOn: "Isi saldo otomatis aktif",
    needsMethod: "Simpan metode pembayaran dahulu.",
    threshold: "Batas saldo",
    thresholdHint: "Tagihan dibuat saat saldo di bawah jumlah ini.",
    amount: "Jumlah isi ulang",
    amountHint: (total: string, net: string) => `Setiap tagihan ${total}; ${net} masuk ke saldo.`,
    cap: "Maksimal per bulan",
    capHint: (charged: string) => `Termasuk pajak, bulan menurut WIB. Bulan ini ditagih ${charged}.`,
    atLeast: (least: string) => `Minimal ${least}.`,
    atMost: (most: string) => `Maksimal ${most}.`,
    belowAmount: (total: string) => `Minimal ${total}, tagihan sekali isi ulang.`,
    save: "Simpan pengaturan",
    saved: "Isi saldo otomatis disimpan",
    paused:
      "Dijeda: tiga tagihan berturut-turut tidak selesai, atau sebuah pembayaran dikembalikan. Periksa metode Anda, lalu simpan pengaturan untuk melanjutkan.",
  },
  en: {
    title: "Automatic top-up",
    about:
      "When the balance falls below a threshold, we charge your saved payment method. You get a mail for each charge.",
    method: "Payment method",
    none: "No method is saved yet.",
    withTax: (total: string, net: string, tax: string) => `${total} (${net} and VAT of ${tax})`,
    saveAbout: (amount: string) =>
      `Pay ${amount} on the provider's page. By continuing you agree that the method is saved and charged by these settings. We store no card number.`,
    saveMethod: "Pay and save the method",
    replaceMethod: "Replace the method",
    removeMethod: "Remove the method",
    removed: "The method was removed, and automatic top-up is off",
    isOn: "Automatic top-up is on",
    needsMethod: "Save a payment method first.",
    threshold: "Threshold",
    thresholdHint: "A charge is made when the balance is below this amount.",
    amount: "Amount of each top-up",
    amountHint: (total: string, net: string) => `Each charge is ${total}; ${net} is added to the balance.`,
    cap: "Most in a month",
    capHint: (charged: string) => `Tax included, months of Asia/Jakarta. Charged this month: ${charged}.`,
    atLeast: (least: string) => `At least ${least}.`,
    atMost: (most: string) => `At most ${most}.`,
    belowAmount: (total: string) => `At least ${total}, one charge of a top-up.`,
    save: "Save settings",
    saved: "Automatic top-up saved",
    paused:
      "Paused: three charges in a row were not completed, or a payment was given back. Check your method, then save the settings to continue.",
  },
};
