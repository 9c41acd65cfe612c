package viewer

import "errors"

// before returns a text as it was before a change of one file: all hunks are taken back, the last one
// first.
func before(text string, f fileDiff) (string, error) {
	if f.note != "" {
		return "", errors.New(f.note)
	}
	for i := len(f.hunks) - 1; i >= 0; i-- {
		var err error
		if text, err = f.hunks[i].revert(text); err != nil {
			return "", err
		}
	}
	return text, nil
}

// a part is one file in a review: what the steps together have changed of it.
type part struct {
	path  string
	was   string // the text before all steps
	there bool   // whether the file was there before
	why   string // why its hunks can't be shown, "" otherwise
	what  string // of its last step
	steps []int64
}

// parts returns the files that steps have changed, with their texts before. The steps are diffs, the
// newest first, of which only those with mine set are reviewed. now returns the present text of a file.
// A file that is as it was before, or was renamed as a whole, needs no hunks.
func parts(steps []step, now func(path string) (string, bool)) (out []*part) {
	byPath := map[string]*part{}
	texts := map[string]string{} // before the steps that were taken back so far
	oldest := len(steps) - 1
	for oldest >= 0 && !steps[oldest].mine {
		oldest--
	}
	for _, s := range steps[:oldest+1] {
		files := parse(s.diff)
		for i := len(files) - 1; i >= 0; i-- {
			f := files[i]
			if f.path == "" {
				continue
			}
			p := byPath[f.path]
			if p == nil {
				if !s.mine {
					if _, known := texts[f.path]; !known {
						texts[f.path], _ = now(f.path)
					}
				}
				p = &part{path: f.path, what: f.what, there: true}
				byPath[f.path] = p
				if _, known := texts[f.path]; !known {
					texts[f.path], _ = now(f.path)
				}
			}
			if s.mine {
				if len(p.steps) == 0 {
					out = append(out, p)
				}
				p.steps = append(p.steps, s.id)
			}
			switch {
			case f.from != "" || f.what == "New folder" || f.what == "Deleted folder":
				p.why = map[string]string{"Renamed": "Renamed from " + f.from + ".", "New folder": "A new folder.", "Deleted folder": "A folder was deleted."}[f.what]
			case p.why == "":
				text, err := before(texts[f.path], f)
				if err != nil {
					p.why = err.Error()
				}
				texts[f.path], p.there = text, f.what != "New"
			}
			p.was = texts[f.path]
		}
	}
	return out
}

// step is a change of the history.
type step struct {
	id   int64
	mine bool // it is one of those in review
	diff string
}
