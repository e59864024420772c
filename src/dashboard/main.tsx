// The dashboard: Saldo's user interface. It uses only the contracts and has no rule about money: the server computes
// every displayed amount.

import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/queries.ts";
import { transport } from "./api/transport.ts";
import { LanguageProvider } from "./i18n/language.tsx";
import { NoticeProvider } from "./components/notices.tsx";
import { createPages } from "./router.tsx";
import "./styles.css";

const place = document.getElementById("root");
if (place === null) throw new Error("index.html has a place for the page");
const pages = createPages();
createRoot(place).render(
  <StrictMode>
    <TransportProvider transport={transport}>
      <QueryClientProvider client={createQueryClient()}>
        <LanguageProvider>
          <NoticeProvider>
            <RouterProvider router={pages} />
          </NoticeProvider>
        </LanguageProvider>
      </QueryClientProvider>
    </TransportProvider>
  </StrictMode>,
);
