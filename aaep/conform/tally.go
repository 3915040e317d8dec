package conform

// Select returns the vectors that a word selects: an area, a rule or the id of a vector. The empty word selects all.
func Select(word string) ([]Vector, error) {
	all, err := Vectors()
	if err != nil || word == "" {
		return all, err
	}
	var chosen []Vector
	for _, v := range all {
		if v.Matches(word) {
			chosen = append(chosen, v)
		}
	}
	return chosen, nil
}

// Judgement is what became of one vector.
type Judgement struct {
	ID          string   `json:"id"`
	Rule        string   `json:"rule"`
	Also        []string `json:"also,omitempty"`
	Verdict     string   `json:"verdict"` // the one that is expected
	Passed      bool     `json:"held"`
	Problem     string   `json:"problem,omitempty"`
	Unsupported string   `json:"unsupported,omitzero"` // why the judge cannot judge such a case
	Pending     string   `json:"pending,omitempty"`    // what is known to be missing
	Title       string   `json:"-"`
}

// Tally counts judgements. Each vector held, failed, is pending, or is of a kind that the judge does not support.
type Tally struct {
	Vectors     int `json:"vectors"`
	Passed      int `json:"held"`
	Failed      int `json:"failed"`
	Pending     int `json:"pending"`
	Unsupported int `json:"unsupported,omitzero"`
}

// JudgeAll runs vectors against a judge and calls each with what became of them, one by one, until it fails. Known are the
// vectors, by id, that are known to fail, each with what is missing: they are pending, and do not count as failed.
func JudgeAll(vectors []Vector, judge Judge, known map[string]string, each func(Judgement) error) (Tally, error) {
	t := Tally{Vectors: len(vectors)}
	for _, v := range vectors {
		out := v.Run(judge)
		missing, waits := known[v.ID]
		switch {
		case out.Passed():
			t.Passed++
		case out.Unsupported != "":
			t.Unsupported++
		case waits:
			t.Pending++
		default:
			t.Failed++
		}
		j := Judgement{
			ID: v.ID, Rule: v.Rule, Also: v.Also, Verdict: string(v.Verdict), Passed: out.Passed(), Problem: out.Problem,
			Unsupported: out.Unsupported, Pending: missing, Title: v.Title,
		}
		if err := each(j); err != nil {
			return t, err
		}
	}
	return t, nil
}
