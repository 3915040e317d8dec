// Package storetest is the one suite that every [store.Ledger] has to pass.
//
// [Exercise] takes a function that opens an empty store with a clock and proves the port method by
// method: what is written comes back as it was, what may exist once exists once, lost
// races are told, a failing update undoes itself and nothing else, events have no gaps.
// [Survive] takes places where a ledger can lie and proves that what was answered is
// there after a close and after a crash.
//
//	func TestStore(t *testing.T) {
//		storetest.Exercise(t, func(t *testing.T, now func() time.Time) store.Ledger { return open(t, now) })
//	}
//
// The samples have a value in every field, also in those that the port grows later: they
// are filled by reflection. So a store that forgets a new field fails here.
package storetest
