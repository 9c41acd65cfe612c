import { load } from './bailey/api.mjs';
import { use } from './bailey/element.mjs';
import { show } from './outcome.mjs';

const bailey = load();
use(bailey);
show(bailey);
