package tool

type scattered struct{}

func (scattered) a() {}
