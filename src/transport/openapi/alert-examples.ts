// Examples of the operations about alerts.

const settings = {
  dailySpend: "250000",
  percents: [50, 80, 100],
  mailTypes: ["key.budget_reached", "member.budget_reached", "usage.daily"],
  webhookTypes: ["balance.low", "key.budget_reached", "member.budget_reached", "usage.daily", "top_up.succeeded"],
};
const webhook = {
  url: "https://shop.example.com/saldo",
  secretLastFour: "9f2K",
  updatedAt: "2026-11-23T08:00:00.000Z",
};
const delivery = {
  id: "01a20a18-90e1-71af-abb6-25530962f606",
  type: "usage.daily",
  state: "ALERT_DELIVERY_STATE_DELIVERED",
  createdAt: "2026-11-23T08:02:00.000Z",
  attempts: [
    {
      startedAt: "2026-11-23T08:02:00.500Z",
      httpStatus: 204,
      problem: "",
      durationMs: 81,
      url: webhook.url,
      problemCode: "ATTEMPT_PROBLEM_UNSPECIFIED",
      problemDetail: "",
    },
  ],
  note: "",
  end: "DELIVERY_END_UNSPECIFIED",
};

/** The examples by method. */
export const alertExamples = {
  GetAlertSettings: { data: { settings, webhook } },
  UpdateAlertSettings: { body: { settings }, data: { settings } },
  UpdateAlertWebhook: {
    body: { url: webhook.url, renewSecret: false },
    data: { webhook, secret: "" },
  },
  ListAlertDeliveries: { parameters: { pageSize: 50 }, data: { deliveries: [delivery], nextPageToken: "" } },
  ResendAlert: { parameters: { deliveryId: delivery.id }, data: { delivery } },
};
