// Examples of the operations about automatic top-ups.

/** The examples by method. */
export const autoTopUpExamples = {
  GetAutoTopUp: {
    data: {
      autoTopUp: {
        settings: { isOn: true, threshold: "50000", amount: "200000", monthlyCap: "1000000" },
        method: { provider: "midtrans", label: "•••• 1114", createdAt: "2026-11-23T08:00:00.000Z" },
        charged: "444000",
        canSave: true,
      },
    },
  },
};
