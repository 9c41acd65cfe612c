// Reads {"name", "6", "7"} a line, the same run as the stream of each version of AI SDK. AI SDK's own
// code parses it, makes a message of it and validates that. Prints {"name", "version", "chunks",
// "errors", "message"} a line.
import { createInterface } from "node:readline";

const sdks = { 6: await import("ai-6"), 7: await import("ai-7") };

for await (const line of createInterface({ input: process.stdin })) {
  const run = JSON.parse(line);
  for (const [version, ai] of Object.entries(sdks)) {
    console.log(JSON.stringify({ name: run.name, version: +version, ...(await check(ai, run[version])) }));
  }
}

async function check(ai, text) {
  const errors = [], chunks = [];
  const parsed = ai.parseJsonEventStream({ stream: new Response(text).body, schema: ai.uiMessageChunkSchema });
  for await (const one of parsed) {
    if (one.success) chunks.push(one.value);
    else errors.push(`a chunk: ${one.error.message} ${JSON.stringify(one.rawValue)}`);
  }
  const stream = new ReadableStream({
    start(c) {
      for (const chunk of chunks) if (chunk.type !== "error") c.enqueue(chunk); // an error ends the stream, as it should
      c.close();
    },
  });
  let message;
  try {
    for await (const next of ai.readUIMessageStream({ stream, onError: (e) => errors.push(`the stream: ${e}`), terminateOnError: true })) message = next;
  } catch (e) {
    errors.push(`the stream: ${e}`);
  }
  if (message && message.parts.length > 0) {
    const result = await ai.safeValidateUIMessages({ messages: [message] });
    if (!result.success) errors.push(`the message: ${result.error.message} ${JSON.stringify(message)}`);
  }
  return { chunks: chunks.length, errors, message };
}
