// The messages of the page that welcomes strangers.

import type { Messages } from "../../i18n/language.tsx";

export const WELCOME_MESSAGES = {
  id: {
    title: "Satu kunci untuk semua model, dibayar dalam rupiah",
    about:
      "Saldo adalah gateway prabayar ke model AI. Isi saldo dalam rupiah, pakai satu kunci API dengan format OpenAI, Anthropic, atau Google, lalu bayar tepat sebanyak token yang dipakai.",
    signUp: "Daftar",
    signIn: "Masuk",
    docs: "Dokumentasi",
    demo: "Ini demo: uang dan model di dalamnya tidak sungguhan. Di halaman masuk, satu klik sudah cukup.",
    request: "Permintaan pertama Anda",
    requestAbout: "Buat kunci setelah mendaftar, simpan di SALDO_API_KEY, lalu jalankan:",
    points: "Yang Anda dapat",
    exact: "Tagihan yang tepat",
    exactAbout:
      "Setiap jawaban dibayar dalam satu transaksi sebelum selesai dikirim. Token, harga, dan biaya tiap permintaan bisa dilihat.",
    prepaid: "Prabayar, tanpa langganan",
    prepaidAbout: "Tidak ada permintaan yang melebihi saldo: saldo tidak pernah negatif dan tidak ada tagihan susulan.",
    clients: "Klien Anda tetap dipakai",
    clientsAbout: "Pustaka OpenAI, Anthropic, dan Google langsung bekerja. Agen koding diatur dengan satu perintah:",
    routes: "Tetap menjawab",
    routesAbout: "Kalau sebuah upstream gagal sebelum menjawab, permintaan dicoba lewat rute lain dari model itu.",
    models: "Model dan harga saat ini",
    modelsAbout: "Rupiah per 1 juta token.",
    allModels: "Semua model",
  },
  en: {
    title: "One key for every model, paid in rupiah",
    about:
      "Saldo is a prepaid gateway to AI models. Top up in rupiah, use one API key with the formats of OpenAI, Anthropic or Google, and pay for exactly the tokens you use.",
    signUp: "Sign up",
    signIn: "Sign in",
    docs: "Documentation",
    demo: "This is a demo: its money and models are not real. On the sign-in page, one click is enough.",
    request: "Your first request",
    requestAbout: "Create a key after signing up, store it in SALDO_API_KEY, then run:",
    points: "What you get",
    exact: "An exact bill",
    exactAbout:
      "Each answer is paid in one transaction before it has been sent completely. You see the tokens, prices and cost of every request.",
    prepaid: "Prepaid, no subscription",
    prepaidAbout: "No request exceeds your balance: it is never negative, and no bill follows later.",
    clients: "Your clients keep working",
    clientsAbout: "The libraries of OpenAI, Anthropic and Google work unchanged. One command sets up coding agents:",
    routes: "Answers when an upstream fails",
    routesAbout: "If an upstream fails before it answers, the request is tried on the model's other routes.",
    models: "Models and prices now",
    modelsAbout: "Rupiah per 1M tokens.",
    allModels: "All models",
  },
} satisfies Messages<Record<string, string>>;
