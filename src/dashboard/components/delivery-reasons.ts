// Why deliveries were given up and attempts failed, in both languages. Of a reason without a value the server's English sentence is shown.

import { AttemptProblem, DeliveryEnd } from "#gen/saldo/callbacks/v1/delivery_pb.ts";
import { type Messages, useMessages } from "../i18n/language.tsx";

type Entries = {
  readonly end: Readonly<Partial<Record<DeliveryEnd, string>>>;
  readonly problem: Readonly<Partial<Record<AttemptProblem, string>>>;
  readonly rule: Readonly<Record<string, string>>;
};

export const REASON_MESSAGES = {
  id: {
    end: {
      [DeliveryEnd.TRIED_FOR_DAYS]: "Dihentikan setelah dicoba selama 3 hari.",
      [DeliveryEnd.LATER_DELIVERED]: "Status yang lebih baru sudah terkirim.",
      [DeliveryEnd.TURNED_OFF]: "Pengiriman dinonaktifkan.",
      [DeliveryEnd.STOPPED]: "Selama 7 hari tidak ada yang terkirim, jadi pengiriman dihentikan.",
    },
    problem: {
      [AttemptProblem.STATUS_REFUSED]: "Server Anda menolak",
      [AttemptProblem.NOT_ACCEPTED]: 'Jawabannya bukan {"message":"OK"}',
      [AttemptProblem.ANSWER_TOO_LONG]: "Jawabannya terlalu panjang",
      [AttemptProblem.TIMED_OUT]: "Server Anda tidak menjawab tepat waktu",
      [AttemptProblem.PROCESS_STOPPED]: "Terputus karena proses kami berhenti",
      [AttemptProblem.PRIVATE_ADDRESS]: "Nama host mengarah ke alamat di luar internet publik",
      [AttemptProblem.UNREACHABLE]: "Server Anda tidak dapat dihubungi",
      [AttemptProblem.ADDRESS_NOT_ALLOWED]: "Alamatnya tidak diizinkan lagi",
    },
    rule: {
      "url.form": "harus berupa alamat yang diawali https://",
      "url.credentials": "tidak boleh memuat nama pengguna atau kata sandi",
      "url.fragment": "tidak boleh memuat fragmen",
      "url.https": "harus diawali https:// di produksi",
      "url.port": "port harus 80, 443, atau mulai dari 1024",
      "url.private": "harus berupa alamat internet publik",
      "url.host": "harus pada host yang didaftarkan operator layanan ini",
    },
  },
  en: {
    end: {
      [DeliveryEnd.TRIED_FOR_DAYS]: "Given up after 3 days of attempts.",
      [DeliveryEnd.LATER_DELIVERED]: "A later status was delivered.",
      [DeliveryEnd.TURNED_OFF]: "Deliveries were turned off.",
      [DeliveryEnd.STOPPED]: "Nothing was delivered for 7 days, so deliveries were stopped.",
    },
    problem: {
      [AttemptProblem.STATUS_REFUSED]: "Your server refused it",
      [AttemptProblem.NOT_ACCEPTED]: 'The answer was not {"message":"OK"}',
      [AttemptProblem.ANSWER_TOO_LONG]: "The answer was too long",
      [AttemptProblem.TIMED_OUT]: "Your server did not answer in time",
      [AttemptProblem.PROCESS_STOPPED]: "Ended because our process stopped",
      [AttemptProblem.PRIVATE_ADDRESS]: "The host name leads to an address outside the public internet",
      [AttemptProblem.UNREACHABLE]: "Your server could not be reached",
      [AttemptProblem.ADDRESS_NOT_ALLOWED]: "The address is not allowed any more",
    },
    rule: {
      "url.form": "it must be an address that begins with https://",
      "url.credentials": "it must have no user name and no password",
      "url.fragment": "it must have no fragment",
      "url.https": "it must begin with https:// in production",
      "url.port": "its port must be 80, 443, or one from 1024 on",
      "url.private": "it must be an address of the public internet",
      "url.host": "it must be on a host that the operator of this service has listed",
    },
  },
} satisfies Messages<Entries>;

type Ended = { readonly end: DeliveryEnd; readonly note: string };
type Failed = {
  readonly problemCode: AttemptProblem;
  readonly problemDetail: string;
  readonly problem: string;
};

/** The sentences of a delivery and of an attempt; empty where there is no reason. */
export function useReasons(): {
  readonly endOf: (delivery: Ended) => string;
  readonly problemOf: (attempt: Failed) => string;
} {
  const { end, problem, rule }: Entries = useMessages(REASON_MESSAGES);
  return {
    endOf: (delivery) => end[delivery.end] ?? delivery.note,
    problemOf: ({ problemCode, problemDetail, problem: sentence }) => {
      const reason = problem[problemCode];
      if (reason === undefined) return sentence;
      return problemDetail === "" ? reason : `${reason}: ${rule[problemDetail] ?? problemDetail}`;
    },
  };
}
