// The tab of a provider's payment page. It opens with the press of a button, before the address is known: browsers block a tab that
// opens only after an answer.

export type PaymentTab = {
  /** Leads to the payment. Without an address the tab closes. */
  lead(address: string): void;
  close(): void;
};

/** A new tab with a text for the time until the address is known. A browser that blocks tabs gets none; the page has a link. */
export function openPaymentTab(title: string): PaymentTab {
  const tab = window.open("", "_blank");
  if (tab === null) return { lead: () => {}, close: () => {} };
  // The provider's page has no access to this one.
  tab.opener = null;
  tab.document.title = title;
  tab.document.body.textContent = title;
  const close = () => tab.close();
  return {
    lead: (address) => {
      if (address === "") close();
      else tab.location.replace(address);
    },
    close,
  };
}
