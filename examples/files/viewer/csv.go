package viewer

import (
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// The limits of a table.
const (
	maxRows    = 2000
	maxColumns = 100
	maxCell    = 2000 // bytes
)

// cells returns the rows of a CSV text (RFC 4180), and the number of rows in it. It stores at most
// maxRows. A quote that has no end takes the rest of the text. Rows may have different numbers of cells.
func cells(s string, comma byte) (rows [][]string, all int) {
	for s != "" {
		var row []string
		for ended := false; !ended; {
			var cell string
			if strings.HasPrefix(s, `"`) {
				var b strings.Builder
				s = s[1:]
				for {
					i := strings.IndexByte(s, '"')
					if i < 0 {
						b.WriteString(s)
						s = ""
						break
					}
					b.WriteString(s[:i])
					if s = s[i+1:]; !strings.HasPrefix(s, `"`) {
						break
					}
					b.WriteByte('"')
					s = s[1:]
				}
				cell = b.String()
			}
			i := 0
			for i < len(s) && s[i] != comma && s[i] != '\n' && s[i] != '\r' {
				i++
			}
			cell += s[:i] // behind a quote too
			if s = s[i:]; s == "" || s[0] != comma {
				ended = true
				s = strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n")
			} else if s = s[1:]; s == "" {
				row, ended = append(row, cell), true
				cell = ""
			}
			row = append(row, cell)
		}
		if len(row) == 1 && row[0] == "" { // an empty line
			continue
		}
		if all++; len(rows) < maxRows {
			rows = append(rows, row)
		}
	}
	return rows, all
}

// comma returns the character between the cells: the one that the first lines have most evenly.
func comma(name, s string) byte {
	if strings.HasSuffix(strings.ToLower(name), ".tsv") {
		return '\t'
	}
	best, most := byte(','), 0
	for _, c := range []byte{',', ';', '\t', '|'} {
		rows, _ := cells(s[:min(len(s), 4<<10)], c)
		if len(rows) > 1 {
			rows = rows[:len(rows)-1] // it may be cut
		}
		n := 0
		for _, r := range rows[:min(len(rows), 10)] {
			if len(r) > 1 && len(r) == len(rows[0]) {
				n += 1000 + min(len(r), 100)
			}
		}
		if n > most {
			best, most = c, n
		}
	}
	return best
}

// isNumber reports whether a cell is a number, which is shown at the right.
func isNumber(s string) bool {
	s = strings.TrimSpace(strings.Trim(strings.TrimSpace(s), "%€$£"))
	_, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
	return err == nil && strings.ContainsAny(s, "0123456789") && !strings.ContainsAny(s, "xXpPnN")
}
