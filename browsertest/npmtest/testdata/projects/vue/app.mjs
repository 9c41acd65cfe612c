import { createApp, h, ref } from 'vue';
import 'bailey/element';
import { report, text } from './outcome.mjs';

const shown = ref('');
createApp({
  render: () => h('bailey-document', { text: shown.value, label: 'Answer', onLink: (e) => { globalThis.link = e.detail.url; } }),
  async mounted() {
    for (const token of text.match(/[^]{1,7}/gu)) {
      shown.value += token;
      await this.$nextTick();
    }
    report(this.$el).catch((e) => { globalThis.failed = e.message; });
  },
}).mount('#app');
