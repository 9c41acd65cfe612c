import { load, transport } from './bailey/agent.mjs';
import { kit } from './kit.mjs';

// The element of index.html was there before its class.
const element = document.querySelector('bailey-consent');

kit(load, transport, (own) => { own.element = own.ask = element; });
