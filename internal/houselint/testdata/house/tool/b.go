package tool

func (s *scattered) b() {}
