package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/surface/page"
	"github.com/earshot-dev/earshot/internal/wording"
)

const (
	// entriesPerSearch is how many entries one page looks through.
	entriesPerSearch = 2000
	// findingsOnPage is how many findings of a verification a page lists.
	findingsOnPage = 100
)

// auditPage lists the entries of the audit chain, the newest first.
func (s *Server) auditPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	view, err := s.auditView(r, v)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "audit", view)
}

func (s *Server) auditView(r *http.Request, v visitor) (page.Audit, error) {
	view := page.Audit{Navigation: s.navigation(v), Form: v.form, Search: page.Search{Path: "/audit", Label: "Search in the entries"}}
	wanted, err := query(r)
	if err != nil {
		return view, err
	}
	view.Search.Query = wanted
	before, err := number(r, "before")
	if err != nil {
		return view, err
	}
	if view.First = before == 0; view.First {
		head, err := operate.Head(r.Context(), s.asks(v))
		if err != nil {
			return view, err
		}
		before = head.N + 1
	}
	err = s.entriesInto(r.Context(), v, &view, before)
	return view, err
}

// entriesInto adds the entries before one to a list, the newest first: a page of them, or those among the last that hold what is
// searched for.
func (s *Server) entriesInto(ctx context.Context, v visitor, view *page.Audit, before int64) error {
	span := int64(rowsPerPage)
	if view.Search.Query != "" {
		span = entriesPerSearch
	}
	first := max(1, before-span)
	entries, err := s.entries(ctx, v, first, before)
	if err != nil {
		return err
	}
	for _, e := range slices.Backward(entries) {
		row := page.Entry{Number: e.N, When: e.At.In(v.zone).Format("2 January 2006, 15:04:05"), Text: legible.Capital(legible.Line(wording.Entry(e))) + "."}
		if !holds(view.Search.Query, row.Text) {
			continue
		}
		if len(view.Rows) == rowsPerPage {
			first = view.Rows[rowsPerPage-1].Number
			break
		}
		view.Rows = append(view.Rows, row)
	}
	if first > 1 {
		view.Search.Next = view.Search.Further("before", strconv.FormatInt(first, 10))
	}
	if view.Search.Query != "" && before > 1 {
		view.Searched = fmt.Sprintf("Searched in the entries %d to %d.", first, before-1)
	}
	return nil
}

// entries reads the entries from first on, up to before.
func (s *Server) entries(ctx context.Context, v visitor, first, before int64) ([]api.AuditEntry, error) {
	var entries []api.AuditEntry
	for after := first - 1; after < before-1; {
		var part api.AuditAnswer
		if err := s.asks(v)(ctx, api.OpAudit, api.AuditRequest{After: after}, &part); err != nil {
			return nil, err
		}
		for _, e := range part.Entries {
			if after = e.N; e.N < before {
				entries = append(entries, e)
			}
		}
		if !part.More || len(part.Entries) == 0 {
			break
		}
	}
	return entries, nil
}

// verifyForm reads the whole chain and says what is wrong with it. One verification runs at a time.
func (s *Server) verifyForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	if err := v.meant(r); err != nil {
		return err
	}
	if !s.verifying.TryLock() {
		return refuse(api.KindBusy, "the chain is being verified already", "wait for that, then try again")
	}
	defer s.verifying.Unlock()
	report, err := s.verify(r.Context(), v)
	if err != nil {
		return err
	}
	view, err := s.auditView(r, v)
	if err != nil {
		return err
	}
	view.Report = report
	return s.show(w, r, http.StatusOK, "audit", view)
}

func (s *Server) verify(ctx context.Context, v visitor) (*page.Report, error) {
	report := page.Report{Heading: "The chain is not whole."}
	verifier := audit.Verifier{Found: func(f audit.Finding) {
		if len(report.Findings) < findingsOnPage {
			report.Findings = append(report.Findings, wording.Finding(f).Map(legible.Line))
		}
	}}
	found, err := verifier.Ledger(func(q api.AuditRequest) (a api.AuditAnswer, err error) {
		err = s.asks(v)(ctx, api.OpAudit, q, &a)
		return a, err
	})
	if err != nil {
		return nil, err
	}
	if report.Whole = found.Findings == 0; report.Whole {
		report.Heading = "Verified."
	}
	report.Lines, report.More = wording.Report(found, audit.Head{}), found.Findings-int64(len(report.Findings))
	return &report, nil
}
