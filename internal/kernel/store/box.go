package store

// BoxFilter narrows a list of the entries of boxes. Zero fields do not narrow.
type BoxFilter struct {
	Owner, Box, Card, Turn string
	Use                    string
	After                  int64 // a number: the list goes on after it
	Limit                  int   // 0 does not limit
}

// BoxPage is where a list of boxes goes on: after this box of this owner. The zero value is its beginning.
type BoxPage struct {
	Owner, Box string
	Limit      int // 0 does not limit
}
