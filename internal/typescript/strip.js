// Strips the types of TypeScript. modules are those of Sucrase, by their names, and args is the text. Every removed
// token becomes blanks, so that what stays keeps its line and its column. Only the lines of enums and of parameters that
// are properties change. This returns {code}, or {error, line} for a text that is not TypeScript.
const known = new Map(), own = Object.hasOwn;
const requireFrom = (folder) => (path) => {
  const parts = folder ? folder.split('/') : [];
  for (const p of path.split('/')) p === '..' ? parts.pop() : p !== '.' && parts.push(p);
  const at = parts.join('/');
  for (const name of [at, at ? at + '/index' : 'index']) {
    if (known.has(name)) return known.get(name);
    if (!own(modules, name)) continue;
    const exports = {};
    known.set(name, exports);
    modules[name](exports, requireFrom(name.split('/').slice(0, -1).join('/')));
    return exports;
  }
  return {}; // left out: the transformations of other languages
};
const load = requireFrom('');
const { TokenType: T } = load('./parser/tokenizer/types'), Processor = load('./TokenProcessor').default;

const blank = (text) => text.replace(/[^\r\n\u2028\u2029]/g, ' '), broken = /[\r\n\u2028\u2029]/;

/** The indices of the removed tokens, with their places in the output. */
const removed = new Map();
Processor.prototype.removeToken = Processor.prototype.removeInitialToken = function () {
  const token = this.tokens[this.tokenIndex];
  this.resultCode += blank(this.previousWhitespaceAndComments());
  this.resultMappings[this.tokenIndex] = this.resultCode.length;
  removed.set(this.tokenIndex, this.resultCode.length);
  this.resultCode += blank(this.code.slice(token.start, token.end));
  this.tokenIndex++;
};

class Refused extends Error {}
const lineOf = (text, at) => text.slice(0, at).split(/\r\n|[\r\n\u2028\u2029]/).length;

const strip = (text) => {
  const { tokens } = load('./parser').parse(text, false, true, false);
  const names = new (load('./NameManager').default)(text, tokens);
  const helpers = new (load('./HelperManager').HelperManager)(names);
  const tokenProcessor = new Processor(text, tokens, false, true, helpers);
  const options = { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true };
  const root = new (load('./transformers/RootTransformer').default)(
    { tokenProcessor, scopes: [], nameManager: names, importProcessor: null, helperManager: helpers }, options.transforms, false, options);
  const { code, mappings } = root.transform();
  const out = code.split('');
  const word = (i) => (i >= 0 && i < tokens.length ? text.slice(tokens[i].start, tokens[i].end) : '');
  const between = (i, j) => broken.test(text.slice(i < 0 ? 0 : tokens[i].end, j < tokens.length ? tokens[j].start : text.length));
  /** Writes a character over a blank. */
  const put = (at, c) => out[at] === ' ' && ((out[at] = c), true);

  for (let first = 0; first < tokens.length; first++) {
    if (!removed.has(first)) continue;
    let next = first;
    while (removed.has(next)) next++;
    const last = next - 1, before = first - 1;
    // A namespace would vanish, with all that it computes.
    for (let i = first, depth = 0; i < next; i++) {
      const type = tokens[i].type;
      if (type === T.braceL) depth++;
      else if (type === T.braceR) depth--;
      else if (!depth && /^(namespace|module)$/.test(word(i)) && word(i - 1) !== 'declare' && !between(i, i + 1) && tokens[i + 1]?.type === T.name &&
        /^[.{]$/.test(word(i + 2))) throw new Refused('a namespace has no form in JavaScript; use an object or a class (line ' + lineOf(text, tokens[i].start) + ')');
    }
    const follows = next < tokens.length ? tokens[next].type : T.eof, lines = between(last, next);
    const ends = lines && (/^(as|satisfies)$/.test(word(first)) || (word(first) !== '<' && (before < 0 || between(before, first))));
    const joins = [T.parenL, T.bracketL, T.backQuote], operators = [T.plusMin, T.slash, T.regexp, T.star];
    // The line that follows would continue the one before.
    if (ends && (joins.includes(follows) || (!/^(as|satisfies)$/.test(word(first)) && operators.includes(follows)))) put(removed.get(first), ';');
    const wide = lines || broken.test(text.slice(tokens[first].start, tokens[last].end));
    // No line may end after return: the bracket moves up.
    if (wide && follows === T.parenL && /^(return|throw|yield)$/.test(word(before)) && put(removed.get(first), '(')) out[mappings[next]] = ' ';
    first = last;
  }
  return out.join('');
};

try {
  return { code: strip(args) };
} catch (e) {
  if (e instanceof Refused) return { error: e.message };
  const { loc, message } = e;
  if (!loc) return { error: message };
  return { error: message.replace(/ \(\d+:\d+\)$/, '') + ' (line ' + loc.line + ')' };
}
