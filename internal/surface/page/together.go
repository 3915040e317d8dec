package page

// MostTogether is how many questions are answered in one act: nobody reads more than that at once.
const MostTogether = 50

// Together is the page on which several questions are answered in one act, each shown in full.
type Together struct {
	Form  string
	Items []TogetherItem
}

// TogetherItem is one of them.
type TogetherItem struct {
	Question

	// Full is the exact text of its arguments, where its question does not show all of them.
	Full string
	// Whole reports that all of its arguments are on the page. Otherwise an accept takes a page of its own.
	Whole bool
}

// NewTogetherItem makes an item of a question, whose answers stand below all of them. Full is "" where the arguments have
// no room, or the question shows all of them.
func NewTogetherItem(q Question, full string) TogetherItem {
	item := TogetherItem{Question: q, Full: full, Whole: q.Accept || full != ""}
	item.Answerable = false
	if full != "" {
		item.ReadFirst, item.Unread = false, ""
	}
	return item
}
