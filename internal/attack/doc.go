// Package attack counts attacks for `make attack`, which prints one table: the number of attempts,
// of those that succeeded with the defence off, and of those that succeeded.
//
// A test whose name begins with TestAttack starts a suite and reports each attempt:
//
//	func TestAttackLinks(t *testing.T) {
//		a := attack.Start(t, "01")
//		for _, row := range rows {
//			a.Try(row.name, row.reaches(guarded))   // an error of the test, if it succeeds
//			a.Off(row.name, row.reaches(unguarded)) // the control: the same attack without the defence
//		}
//	}
//
// The names of the suites are in [Suites]. A suite may be divided among tests and packages. Its
// counts are added up.
package attack
