import { mount } from 'svelte';
import { load, transport } from 'bailey/agent';
import { kit } from './kit.mjs';
import App from './App.svelte';

kit(load, transport, (own) => { mount(App, { target: document.getElementById('app'), props: { own } }); });
