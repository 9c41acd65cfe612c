package markdown

// makeRoom closes the elements that an element of the text closes implicitly, such as the
// previous list item or cell. It reports whether the parent that the element needs is there.
func (b *balancer) makeRoom(name string, el element) bool {
	switch el.class {
	case listItem:
		return b.into(func(o *opened) bool { return o.name == "ul" || o.name == "ol" || o.name == "menu" },
			func(o *opened) bool {
				return o.class == listItem || o.class == phrasing || o.class == paragraph || o.class == anchor
			})
	case defItem:
		return b.into(func(o *opened) bool { return o.name == "dl" },
			func(o *opened) bool {
				return o.class == defItem || o.class == phrasing || o.class == paragraph || o.class == anchor
			})
	case rubyItem:
		return b.into(func(o *opened) bool { return o.name == "ruby" }, func(o *opened) bool { return o.class == rubyItem })
	case summary:
		return b.into(func(o *opened) bool { return o.name == "details" }, func(o *opened) bool { return o.class == paragraph })
	case caption, columns, rows:
		return b.into(isClass(table), inTable)
	case column:
		if b.top().class == columns {
			return true
		}
		if !b.into(isClass(table), inTable) {
			return false
		}
		b.imply("colgroup", columns)
	case row:
		if !b.into(isClass(rows), inTable) {
			if !b.into(isClass(table), inTable) {
				return false
			}
			b.imply("tbody", rows)
		}
	case cell:
		if !b.into(isClass(row), inTable) {
			if !b.into(isClass(rows), inTable) {
				if !b.into(isClass(table), inTable) {
					return false
				}
				b.imply("tbody", rows)
			}
			b.imply("tr", row)
		}
	}
	return true
}

func isClass(c class) func(*opened) bool { return func(o *opened) bool { return o.class == c } }

// inTable reports whether o is closed by the next part of its table.
func inTable(o *opened) bool { return o.class != table }

// into closes elements of the text that may be closed, until the innermost open element is a
// wanted one. If there is no such element, it closes nothing and returns false.
func (b *balancer) into(wanted, closes func(*opened) bool) bool {
	k := len(b.stack) - 1
	for ; k >= 0; k-- {
		o := &b.stack[k]
		if wanted(o) && !o.own {
			break
		}
		if o.own || !closes(o) {
			return false
		}
	}
	if k < 0 {
		return false
	}
	for len(b.stack)-1 > k {
		b.pop(false)
	}
	return true
}

func (b *balancer) imply(name string, c class) {
	b.push(opened{name: name, class: c, implied: true, until: b.top().until}, []byte("<"+name+">"))
}

// place closes elements of the text until a parser would leave the element in the current
// place. It reports whether this was possible.
func (b *balancer) place(el element) bool {
	switch el.class {
	case caption, columns, column, rows, row, cell, listItem, defItem, rubyItem, summary:
		return true // makeRoom has handled it
	}
	switch c := b.top().class; c { // a table itself may contain only its parts
	case columns:
		if b.top().own {
			return false
		}
		b.pop(false)
		return b.place(el)
	case table, rows, row:
		if b.top().own {
			return false
		}
		if c == table {
			b.imply("tbody", rows)
		}
		if c != row {
			b.imply("tr", row)
		}
		b.imply("td", cell)
	}
	if el.class == phrasing {
		return true
	}
	for k := len(b.stack) - 1; k >= 0; k-- {
		o := &b.stack[k]
		if o.silent {
			continue
		}
		if (o.class == cell || o.class == caption) && el.class != anchor {
			break
		}
		conflict := o.class == paragraph && el.class != anchor || o.class == heading && el.class == heading ||
			o.class == anchor && el.class == anchor
		if !conflict {
			continue
		}
		if o.class != paragraph || el.class == paragraph && o.until > b.part {
			return false
		}
		// A <p> of the text is closed, unless one of our elements is in between.
		for _, above := range b.stack[k:] {
			if above.own {
				return false
			}
		}
		for len(b.stack) > k {
			b.pop(false)
		}
		return b.place(el)
	}
	return true
}
