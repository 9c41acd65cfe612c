import { createApp, h, ref } from 'vue';
import { load, transport } from 'bailey/agent';
import { kit } from './kit.mjs';

kit(load, transport, (own) => {
  const shown = ref(true), title = ref(''), element = ref(null);
  own.show = (yes) => { shown.value = yes; };
  own.ask = () => element.value;
  Object.defineProperty(own, 'element', { get: () => element.value });
  createApp({
    setup: () => () => h('main', [
      h('h1', title.value),
      shown.value && h('bailey-consent', { ref: element, whose: () => 'In a component', onAsk: (e) => { title.value = e.detail.title; }, onStop: () => { title.value = 'stopped'; } }),
    ]),
  }).mount('#app');
});
