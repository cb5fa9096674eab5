/// <reference types="vitest/config" />
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The server that `npm run dev` passes calls on to.
const server = process.env.BEFOREHAND_URL ?? "http://127.0.0.1:8700";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    outDir: "../src/beforehand/server/console",
    emptyOutDir: true,
    target: "es2023",
    // The page's policy allows no data: script and no inline style, so nothing is inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: "es" },
  server: { host: "127.0.0.1", port: 5173, proxy: { "/api": { target: server } } },
  test: { environment: "jsdom", include: ["src/**/*.test.{ts,tsx}"], restoreMocks: true },
});
