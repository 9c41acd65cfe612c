package sandbox

// Without switches off a defence, by the name of its field in off.
func (o *Options) Without(defence string) {
	*map[string]*bool{"clone": &o.off.clone, "keys": &o.off.keys, "names": &o.off.names, "agents": &o.off.agents,
		"words": &o.off.words, "same": &o.off.same, "marks": &o.off.marks, "views": &o.off.views, "sizes": &o.off.sizes}[defence] = true
}
