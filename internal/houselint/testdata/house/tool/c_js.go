package tool

func (s *scattered) c() {}
