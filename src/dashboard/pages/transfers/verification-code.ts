// Code with which a receiver verifies that a callback is ours.

/** The languages of the examples. */
export type ExampleLanguage = "node" | "python";

const NODE = `import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { env } from "node:process";

const secret = env.SALDO_CALLBACK_SECRET;
const token = env.SALDO_CALLBACK_TOKEN;

function isFromSaldo(headers, rawBody) {
  const [, t, v1] = /^t=(\\d+),v1=([0-9a-f]{64})$/.exec(headers["x-saldo-signature"] ?? "") ?? [];
  if (!t || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false;
  const expected = createHmac("sha256", secret).update(t + ".").update(rawBody).digest();
  return timingSafeEqual(expected, Buffer.from(v1, "hex")) && headers["x-callback-token"] === token;
}

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks);
  if (!isFromSaldo(request.headers, rawBody)) return response.writeHead(401).end();
  const event = JSON.parse(rawBody);
  console.log(request.headers["x-saldo-event-id"], event);
  response.setHeader("content-type", "application/json");
  response.end('{"message":"OK"}');
}).listen(8080);`;

const PYTHON = `import hashlib, hmac, json, os, re, time
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = os.environ["SALDO_CALLBACK_SECRET"].encode()
TOKEN = os.environ["SALDO_CALLBACK_TOKEN"]

def is_from_saldo(headers, raw_body):
    found = re.fullmatch(r"t=(\\d+),v1=([0-9a-f]{64})", headers.get("x-saldo-signature", ""))
    if not found or abs(time.time() - int(found[1])) > 300:
        return False
    expected = hmac.new(SECRET, found[1].encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, found[2]) and headers.get("x-callback-token") == TOKEN

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers["content-length"]))
        if not is_from_saldo(self.headers, raw_body):
            self.send_response(401)
            self.end_headers()
            return
        print(self.headers["x-saldo-event-id"], json.loads(raw_body))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"message":"OK"}')

HTTPServer(("", 8080), Receiver).serve_forever()`;

/** A whole receiver that verifies callbacks. */
export const VERIFICATION_CODE: Readonly<Record<ExampleLanguage, string>> = { node: NODE, python: PYTHON };
