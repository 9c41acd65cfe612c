// Package near finds the names that a misspelt one may mean.
package near

import "slices"

// Names returns the names that differ from name in one or two places, at most five.
func Names(name string, from []string) (out []string) {
	if len(name) > 32 {
		return nil
	}
	for _, c := range from {
		most := 1
		if len(name) > 4 {
			most = 2
		}
		if distance(name, c) <= most && !slices.Contains(out, c) && len(out) < 5 {
			out = append(out, c)
		}
	}
	return out
}

// distance returns the number of edits from a to b, with swapped letters as one.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			d := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				d++
			}
			d = min(d, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
