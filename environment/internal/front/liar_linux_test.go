package front

func liar(string) {}
