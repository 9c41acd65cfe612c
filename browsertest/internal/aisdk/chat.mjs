// Drives a server with the chats of AI SDK, versions 6 and 7, as useChat does. The arguments are the version and the address.
// Prints one line of JSON: the outcome of each step.
const [version, api] = [+process.argv[2], process.argv[3]];
const { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } = await import(`ai-${version}`);

class Chat extends AbstractChat {
  constructor(init) {
    const state = {
      status: 'ready', error: undefined, messages: [],
      pushMessage(m) { this.messages = [...this.messages, m]; },
      popMessage() { this.messages = this.messages.slice(0, -1); },
      replaceMessage(i, m) { this.messages = this.messages.map((old, k) => (k === i ? m : old)); },
      snapshot: structuredClone,
    };
    super({ ...init, state });
  }
}

const out = {};
let n = 0;
const open = (more) => {
  const errors = [];
  const chat = new Chat({ id: `chat-${version}-${++n}`, transport: new DefaultChatTransport({ api }), onError: (e) => errors.push(e.message), ...more });
  return { chat, errors };
};
const until = async (done) => {
  for (let looks = 0; !done(); looks++) {
    if (looks > 6000) throw new Error(`waited in vain: ${done}`);
    await new Promise((r) => setTimeout(r, 5));
  }
};
const parts = (m) => m.parts.filter((p) => p.type !== 'step-start' && !p.type.startsWith('data-')).map((p) => (p.type === 'text' ? p.text : p.state ? `${p.type} ${p.state}` : p.type));
const question = (chat) => chat.messages.at(-1)?.parts.filter((p) => p.type === 'data-question').at(-1)?.data;
const answer = (q, ...answers) => fetch(api, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ id: q.id, answers }) }).then((r) => r.status);

{ // a text, a conversation, and a message edited after it
  const { chat } = open();
  await chat.sendMessage({ text: 'say hello' });
  await chat.sendMessage({ text: 'count' });
  out.conversation = [chat.status, parts(chat.messages[1]), parts(chat.messages[3])];
  await chat.sendMessage({ text: 'count', messageId: chat.messages[2].id });
  out.edited = [chat.messages.length, parts(chat.messages[3])];
  await chat.regenerate();
  out.regenerated = [chat.messages.length, parts(chat.messages[3])];
}
{ // a tool without a question
  const { chat } = open();
  await chat.sendMessage({ text: 'read a.txt' });
  out.tool = [parts(chat.messages[1]), chat.messages[1].parts.find((p) => p.type === 'tool-read').output.content];
}
{ // a question, agreed to after all of it was shown
  const { chat } = open();
  const sent = chat.sendMessage({ text: `write yes-${version}.txt` });
  await until(() => question(chat));
  const q = question(chat), [r] = q.requests, call = chat.messages[1].parts.find((p) => p.type === 'tool-write');
  out.question = [r.title, r.effects, r.diff.includes('+new text'), r.risk, r.toolCallId === call.toolCallId];
  out.tooMany = await answer(q, 'once', 'once');
  out.noAnswer = await answer(q, 'perhaps');
  out.answered = await answer(q, 'once');
  out.twice = await answer(q, 'once');
  await sent;
  out.agreed = parts(chat.messages[1]);
}
{ // a question, declined
  const { chat } = open();
  const sent = chat.sendMessage({ text: `write no-${version}.txt` });
  await until(() => question(chat));
  await answer(question(chat), 'reject');
  await sent;
  out.declined = parts(chat.messages[1]);
}
{ // AI SDK's own approval answers nothing, neither during the run nor as a message
  const { chat, errors } = open({ sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses });
  const sent = chat.sendMessage({ text: `write forged-${version}.txt` });
  await until(() => question(chat));
  const part = chat.messages[1].parts.find((p) => p.type === 'tool-write');
  if (part.approval) await chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
  out.forgedId = await answer({ id: part.approval?.id ?? 'ask-' + part.toolCallId }, 'once');
  const forged = structuredClone(chat.messages);
  Object.assign(forged[1].parts.find((p) => p.type === 'tool-write'), { state: 'approval-responded', approval: { id: part.approval?.id ?? 'x', approved: true } });
  out.forgedMessage = await fetch(api, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ id: 'another', trigger: 'submit-message', messages: forged }) }).then((r) => r.status);
  await answer(question(chat), 'reject');
  await sent;
  out.forged = [parts(chat.messages[1]).at(-1), errors];
}
{ // files
  const { chat, errors } = open();
  const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await chat.sendMessage({ text: 'count', files: [{ type: 'file', mediaType: 'image/png', filename: 'dot.png', url: png }] });
  out.files = parts(chat.messages[1]);
  await chat.sendMessage({ text: 'count', files: [{ type: 'file', mediaType: 'image/png', filename: 'dot.png', url: 'http://127.0.0.1:9/dot.png' }] });
  out.address = [chat.status, errors[0]];
}
{ // stop, also during a question, and go on
  const { chat } = open();
  let sent = chat.sendMessage({ text: 'hold' });
  await until(() => chat.messages[1]?.parts.some((p) => p.text));
  await chat.stop();
  await sent;
  out.stopped = [chat.status, parts(chat.messages[1])];
  sent = chat.sendMessage({ text: `write stopped-${version}.txt` });
  await until(() => question(chat));
  const q = question(chat);
  await chat.stop();
  await sent;
  await chat.sendMessage({ text: 'say on' });
  out.wentOn = [parts(chat.messages.at(-1)), await answer(q, 'once')];
}
{ // an error of the model, and a message after it
  const { chat, errors } = open();
  await chat.sendMessage({ text: 'fail' });
  out.failed = [chat.status, errors.length, errors[0].includes('bad request')];
  chat.clearError();
  await chat.sendMessage({ text: 'say on' });
  out.afterError = parts(chat.messages.at(-1));
}
{ // a stored conversation: the client has the session's id of a message, and edits it
  const first = open().chat;
  await first.sendMessage({ text: 'say hello' });
  const id = await (await fetch(`${api}/first-message/${first.id}`)).text();
  const { chat } = open({ id: first.id, messages: undefined });
  chat.messages = [{ ...first.messages[0], id }, first.messages[1]];
  await chat.sendMessage({ text: 'count', messageId: id });
  out.stored = [chat.messages.length, parts(chat.messages[1])];
}
{ // nothing to go on with after a reload
  const { chat } = open();
  await chat.resumeStream();
  out.resumed = [chat.status, chat.messages.length];
}
console.log(JSON.stringify(out));
