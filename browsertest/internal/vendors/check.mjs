// Reads a stream a line: {"name", "peer", "status", "header", "pieces", "broken"}. The pieces are in
// base64, and broken streams end with an error of the connection. The vendor's own package reads each.
// Prints what it makes of it a line, in one form for all packages. Nothing reaches the network.
import { createInterface } from "node:readline";

// Retries wait with a timer. None waits here, and the delays are kept. The limits of time of requests
// are timers too, with a number of their own.
const delays = [], timeout = 1234567;
globalThis.setTimeout = (f, ms = 0, ...args) => {
  if (ms !== timeout) {
    delays.push(ms);
    setImmediate(f, ...args);
  }
  return { ref() {}, unref() {}, hasRef: () => false };
};
globalThis.clearTimeout = () => {};
for (const kind of ["log", "warn", "error", "debug", "info"]) console[kind] = () => {}; // some packages log what they can't read
process.env.AI_SDK_LOG_WARNINGS = "false";

const { default: Anthropic } = await import("@anthropic-ai/sdk");
const { default: OpenAI } = await import("openai");
const { GoogleGenAI } = await import("@google/genai");
const { createOpenRouter } = await import("@openrouter/ai-sdk-provider");
const { createMistral } = await import("@ai-sdk/mistral");
const { createDeepSeek } = await import("@ai-sdk/deepseek");
const { streamText } = await import("ai-6"); // it repeats the requests of the last three

const user = "hi", apiKey = "key-1234", model = "m";

class Broken extends Error {}

// failed sets the class of an error: its status, "stream" for an error that the server tells within a
// stream, "cut" or "unreadable".
function failed(got, e) {
  const chain = [];
  for (let x = e; x; x = x.cause) chain.push(x);
  const inner = e.error?.error ?? e.error ?? e;
  let message = typeof inner?.message === "string" ? inner.message : String(inner);
  let status = e.status ?? e.statusCode ?? (typeof inner?.code === "number" ? inner.code : undefined);
  const json = e.name === "ApiError" && message.slice(message.indexOf("{")); // Google's error has the body in its message
  if (json) {
    try {
      message = JSON.parse(json).error?.message ?? message;
    } catch {}
  }
  got.message = message;
  if (chain.some((x) => x instanceof Broken)) got.error = "cut";
  else if (status) got.error = `status ${status}`;
  else if (chain.some((x) => /missing finish_reason|Incomplete JSON segment|ended without|request ended/.test(x.message))) got.error = "cut";
  else if (chain.some((x) => x instanceof SyntaxError || ["AI_TypeValidationError", "AI_JSONParseError", "AI_InvalidResponseDataError"].includes(x.name) || /parsing stream chunk|Unexpected event order|can't be read|Cannot read prop|missing (content|output|choices|tool_calls)/.test(x.message))) got.error = "unreadable";
  else got.error = "stream";
}

const peers = {
  async anthropic({ fetch, got, call }) {
    const client = new Anthropic({ apiKey, fetch, maxRetries: 1, timeout, logLevel: "off" });
    const stream = client.messages.stream({ model, max_tokens: 100, messages: [{ role: "user", content: user }] });
    stream.on("text", (t) => (got.text += t));
    const m = await stream.finalMessage();
    got.text = "";
    for (const b of m.content) {
      if (b.type === "text") {
        got.text += b.text;
        for (const s of b.citations ?? []) got.sources.push([s.url ?? "", s.title ?? s.document_title ?? ""]);
      }
      if (b.type === "thinking") got.thoughts.push([b.thinking, b.signature ?? ""]);
      if (b.type === "redacted_thinking") got.thoughts.push(["", b.data]);
      if (b.type === "tool_use") call(b.id, b.name, b.input);
    }
    const u = m.usage ?? {}, cached = u.cache_read_input_tokens ?? 0;
    got.usage = [(u.input_tokens ?? 0) + cached + (u.cache_creation_input_tokens ?? 0), u.output_tokens ?? 0, cached, u.output_tokens_details?.thinking_tokens ?? 0];
    got.stop = { end_turn: "stop", stop_sequence: "stop", tool_use: "tool-calls", max_tokens: "length", model_context_window_exceeded: "length", refusal: "content-filter" }[m.stop_reason] ?? (m.stop_reason ? "other" : "");
  },

  async chat({ fetch, got, call }) {
    const client = new OpenAI({ apiKey, fetch, maxRetries: 1, timeout, logLevel: "off" });
    const stream = client.chat.completions.stream({ model, messages: [{ role: "user", content: user }] });
    stream.on("content", (t) => (got.text += t));
    stream.on("chunk", (c) => {
      for (const choice of c.choices ?? []) {
        const t = choice.delta?.reasoning ?? choice.delta?.reasoning_content; // no part of the type, but kept as it is
        if (typeof t === "string") thought += t;
      }
    });
    let thought = "";
    const m = await stream.finalChatCompletion();
    const { message, finish_reason: stop } = m.choices[0];
    got.text = (message.content ?? "") + (message.refusal ?? "");
    if (thought) got.thoughts.push([thought, ""]);
    for (const t of message.tool_calls ?? []) call(t.id, t.function.name, t.function.arguments || "{}");
    for (const a of message.annotations ?? []) if (a.type === "url_citation") got.sources.push([a.url_citation.url, a.url_citation.title ?? ""]);
    const u = m.usage ?? {};
    got.usage = [u.prompt_tokens ?? 0, u.completion_tokens ?? 0, u.prompt_tokens_details?.cached_tokens ?? 0, u.completion_tokens_details?.reasoning_tokens ?? 0];
    got.stop = { stop: "stop", length: "length", tool_calls: "tool-calls", function_call: "tool-calls", content_filter: "content-filter" }[stop] ?? (stop ? "other" : "");
  },

  async responses({ fetch, got, call }) {
    const client = new OpenAI({ apiKey, fetch, maxRetries: 1, timeout, logLevel: "off" });
    const stream = client.responses.stream({ model, input: user });
    stream.on("event", (e) => {
      if (e.type === "response.output_text.delta" || e.type === "response.refusal.delta") got.text += e.delta;
      if (e.type === "error") throw Object.assign(new Error(e.message), { error: e }); // the package leaves this event to its user
    });
    const r = await stream.finalResponse();
    if (r.status === "failed") throw Object.assign(new Error(r.error?.message), { error: r.error ?? { message: "the model failed" } });
    got.text = "";
    let calls = 0;
    for (const o of r.output) {
      if (o.type === "message") {
        for (const part of o.content) {
          got.text += part.text ?? part.refusal ?? "";
          for (const a of part.annotations ?? []) if (a.type === "url_citation" || a.type === "file_citation") got.sources.push([a.url ?? "", a.title ?? a.filename ?? ""]);
        }
      }
      if (o.type === "reasoning") got.thoughts.push([[...(o.summary ?? []), ...(o.content ?? [])].map((s) => s.text).join(""), o.encrypted_content ?? ""]);
      if (o.type === "image_generation_call" && o.result) got.files.push(o.result);
      if (o.type === "function_call") {
        calls++;
        call(o.call_id, o.name, o.arguments || "{}");
      }
    }
    const u = r.usage ?? {};
    got.usage = [u.input_tokens ?? 0, u.output_tokens ?? 0, u.input_tokens_details?.cached_tokens ?? 0, u.output_tokens_details?.reasoning_tokens ?? 0];
    const why = r.incomplete_details?.reason;
    got.stop = why ? ({ max_output_tokens: "length", content_filter: "content-filter" }[why] ?? "other") : r.status === "completed" ? (calls > 0 ? "tool-calls" : "stop") : "";
  },

  async gemini({ fetch, got, call }) {
    const ai = new GoogleGenAI({ apiKey, httpOptions: { timeout, fetch, retryOptions: { attempts: 2 } } });
    const stream = await ai.models.generateContentStream({ model, contents: user });
    let calls = 0, stop = "", thought = "";
    for await (const chunk of stream) {
      const first = chunk.candidates?.[0];
      for (const p of first?.content?.parts ?? []) {
        if (p.thoughtSignature) got.thoughts.push([p.functionCall ? "(a call)" : p.inlineData ? "(a file)" : "(a text)", p.thoughtSignature]);
        if (p.functionCall) {
          calls++;
          call(p.functionCall.id, p.functionCall.name, p.functionCall.args ?? {});
        } else if (p.inlineData && !p.thought) got.files.push(p.inlineData.data);
        else if (p.thought) thought += p.text ?? "";
        else got.text += p.text ?? "";
      }
      for (const g of first?.groundingMetadata?.groundingChunks ?? []) if (g.web?.uri) got.sources.push([g.web.uri, g.web.title ?? ""]);
      if (first?.finishReason) stop = first.finishReason;
      if (chunk.promptFeedback?.blockReason) stop = "SAFETY";
      const u = chunk.usageMetadata;
      if (u) got.usage = [(u.promptTokenCount ?? 0) + (u.toolUsePromptTokenCount ?? 0), (u.candidatesTokenCount ?? 0) + (u.thoughtsTokenCount ?? 0), u.cachedContentTokenCount ?? 0, u.thoughtsTokenCount ?? 0];
    }
    if (thought) got.thoughts.unshift([thought, ""]);
    const filtered = ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"];
    if (stop === "STOP") got.stop = calls > 0 ? "tool-calls" : "stop";
    else if (stop === "MAX_TOKENS") got.stop = "length";
    else if (filtered.includes(stop)) got.stop = "content-filter";
    else got.stop = stop ? "other" : "";
  },

  openrouter: (x) => sdk(createOpenRouter({ apiKey, fetch: x.fetch, compatibility: "strict" }).chat(model), x),
  mistral: (x) => sdk(createMistral({ apiKey, fetch: x.fetch })(model), x),
  deepseek: (x) => sdk(createDeepSeek({ apiKey, fetch: x.fetch })(model), x),
};

// sdk runs a model of an AI SDK provider.
async function sdk(model, { got, call, status }) {
  if (status !== 200) {
    const run = streamText({ model, prompt: user, maxRetries: 1, onError() {} });
    await run.consumeStream();
  }
  const { stream } = await model.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: user }] }] });
  let thought = "", error;
  for await (const p of stream) {
    if (p.type === "text-delta") got.text += p.delta;
    if (p.type === "reasoning-delta") thought += p.delta;
    if (p.type === "tool-call") call(p.toolCallId, p.toolName, p.input || "{}");
    if (p.type === "file") got.files.push(p.data);
    if (p.type === "source") got.sources.push([p.url ?? "", p.title ?? p.filename ?? ""]);
    if (p.type === "error") error ??= p.error;
    if (p.type === "finish") {
      got.stop = p.finishReason.unified === "other" && p.finishReason.raw === undefined ? "" : p.finishReason.unified;
      const { inputTokens: i, outputTokens: o } = p.usage;
      got.usage = [i.total ?? 0, o.total ?? 0, i.cacheRead ?? 0, o.reasoning ?? 0];
      for (const d of p.providerMetadata?.openrouter?.reasoning_details ?? []) if (d.signature || d.data) got.thoughts.push(["(detail)", d.signature ?? d.data]);
    }
  }
  if (thought) got.thoughts.unshift([thought, ""]);
  if (error) throw error instanceof Error ? error : Object.assign(new Error(error.message ?? String(error)), { error: typeof error === "string" ? { message: error } : error });
}

for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  const pieces = c.pieces.map((p) => Buffer.from(p, "base64"));
  delays.length = 0;
  let requests = 0;
  const fetch = async () => {
    requests++;
    let i = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (i < pieces.length) controller.enqueue(new Uint8Array(pieces[i++]));
        else if (c.broken) controller.error(new Broken("the connection broke"));
        else controller.close();
      },
    });
    return new Response(body, { status: c.status, headers: c.header });
  };
  const all = Buffer.concat(pieces).toString();
  // What every package's answer becomes. An id that is not in the bytes was generated.
  const got = { text: "", thoughts: [], calls: [], files: [], sources: [], usage: [0, 0, 0, 0], stop: "", error: "", message: "" };
  const call = (id, tool, input) => got.calls.push({ id: id && all.includes(id) ? id : "+", tool, args: typeof input === "string" ? input : JSON.stringify(input) });
  try {
    await peers[c.peer]({ fetch, got, call, status: c.status });
  } catch (e) {
    failed(got, e);
    if (c.status !== 200) {
      const again = requests > (e.isRetryable === undefined ? 1 : 2); // the last three make one request more
      got.error += again ? ", again" : ", not again";
      if (again && c.peer !== "gemini" && (c.header["retry-after"] || c.header["retry-after-ms"])) got.error += ` after ${Math.round(delays.find((d) => d > 0))} ms`;
    }
  }
  process.stdout.write(JSON.stringify({ name: c.name, ...got }) + "\n");
}
