package settings

// mostNames is the maximum number of models' names that the form offers. The page builds an element
// for each, and a server may list 10,000. The user can type any other name.
const mostNames = 1000

// offered returns the names that the form offers.
func offered(names []string) []string { return names[:min(len(names), mostNames)] }
