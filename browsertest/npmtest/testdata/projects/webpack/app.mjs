import { load } from 'bailey';
import { use } from 'bailey/element';
import { show } from './outcome.mjs';

const bailey = load();
use(bailey);
show(bailey);
