// Package storetest is the one suite that every [store.Ledger] has to pass.
//
// [Exercise] proves the port method by method: what is written comes back as it was, what may exist
// once exists once, lost races are reported, a failing update undoes itself and nothing else, events
// have no gaps. A [Factory] opens the stores. It also makes places where a ledger can lie, to prove that
// what was answered is there after a close and after a crash, or says that the store is volatile.
//
//	func TestStore(t *testing.T) {
//		storetest.Exercise(t, storetest.Factory{Open: open, Locate: locate})
//	}
//
// The samples have a value in every field, also in those that the port grows later: they
// are filled by reflection. So a store that forgets a new field fails here.
package storetest
