package files

// meter tells how far a piece of work is, never backwards and never past its end. A nil report is heard by nobody.
type meter struct {
	report      func(done, total int64)
	done, total int64
}

func newMeter(report func(done, total int64), total int64) *meter {
	return &meter{report: report, total: total}
}

func (m *meter) add(n int64) { m.to(m.done + n) }

func (m *meter) to(done int64) {
	if done = min(done, m.total); done <= m.done {
		return
	}
	m.done = done
	if m.report != nil {
		m.report(m.done, m.total)
	}
}

func (m *meter) finish() { m.to(m.total) }
