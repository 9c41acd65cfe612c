package tool

func (s *scattered) d() {}
