import { load, transport } from './bailey/agent.mjs';
import { kit } from './kit.mjs';

kit(load, transport);
