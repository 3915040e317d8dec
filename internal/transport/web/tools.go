package web

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/surface/page"
	"github.com/earshot-dev/earshot/internal/wording"
	"github.com/earshot-dev/earshot/utp"
)

// errEnough ends a list whose page is full.
var errEnough = errors.New("enough")

// descriptionInList is how much of a description a list shows, in characters. All of it is on the page of the tool.
const descriptionInList = 240

// toolsPage lists the registered tools by name.
func (s *Server) toolsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	wanted, err := query(r)
	if err != nil {
		return err
	}
	after := r.URL.Query().Get("after")
	view := page.Tools{Navigation: s.navigation(v), Search: page.Search{Path: "/tools", Label: "Search by name or description", Query: wanted}, First: after == ""}
	err = operate.EachTool(r.Context(), s.asks(v), func(t api.ToolDetail) error {
		switch {
		case t.Tool <= after || !holds(wanted, t.Tool, t.Description):
		case len(view.Rows) == rowsPerPage:
			view.Search.Next = view.Search.Further("after", view.Rows[rowsPerPage-1].Name)
			return errEnough
		default:
			view.Rows = append(view.Rows, toolRow(t))
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	return s.show(w, r, http.StatusOK, "tools", view)
}

func toolRow(t api.ToolDetail) page.Tool {
	return page.Tool{
		Name: legible.Text(t.Tool), State: wording.State(t), Counts: string(t.EffectiveClass) + ", " + string(t.EffectiveRisk) + " risk",
		Description: legible.Line(legible.Shorten(t.Description, descriptionInList)), Reviewed: t.Reviewed, Unserved: t.Unserved(),
	}
}

// toolPage shows a tool in full.
func (s *Server) toolPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	t, err := s.tool(r.Context(), v, r.PathValue("tool"))
	if err != nil {
		return err
	}
	view := toolSheet(t)
	view.Navigation = s.navigation(v)
	view.Form = s.formOf(v)
	view.Notice = s.noticeOf(r, v)
	return s.show(w, r, http.StatusOK, "tool", view)
}

func (s *Server) tool(ctx context.Context, v visitor, name string) (api.ToolDetail, error) {
	var found api.ToolsAnswer
	err := s.asks(v)(ctx, api.OpTools, api.ToolsRequest{Tool: name}, &found)
	if refusal, is := errors.AsType[*Refusal](err); is && refusal.Kind == api.KindNotFound || err == nil && len(found.Tools) != 1 {
		return api.ToolDetail{}, refuse(api.KindNotFound, "no tool is called "+clip(name), "see the list of tools")
	}
	if err != nil {
		return api.ToolDetail{}, err
	}
	return found.Tools[0], nil
}

func toolSheet(t api.ToolDetail) page.ToolSheet {
	view := page.ToolSheet{
		Tool: toolRow(t), Changes: wording.Changes(t), Whole: legible.Text(t.Description), Digest: t.Digest,
		Parameters: source(t.Parameters), Options: source(t.Options),
		Pairs: []page.Pair{
			{Name: "The service says", Text: wording.Claimed(t.Definition) + "."},
			{Name: "The policy says", Text: legible.Text(t.Decision)},
			{Name: "Enforcement", Text: wording.Enforcement(t.Enforcement) + "."},
			{Name: "Target", Text: legible.Text(t.Target)},
			{Name: "After execution", Text: legible.Text(string(t.AfterExecution))},
			{Name: "Digest", Text: t.Digest},
		},
	}
	for _, class := range []utp.Class{utp.Read, utp.Idempotent, utp.Reversible, utp.Irreversible} {
		view.Classes = append(view.Classes, page.Choice{Value: string(class), Label: string(class), Chosen: class == wording.ClassOr("", t)})
	}
	for _, risk := range []utp.Risk{utp.RiskLow, utp.RiskMedium, utp.RiskHigh} {
		view.Risks = append(view.Risks, page.Choice{Value: string(risk), Label: string(risk), Chosen: risk == wording.RiskOr("", t)})
	}
	return view
}

// source is a JSON text as it is read: indented, with nothing hidden in it.
func source(value jsontext.Value) string {
	if len(value) == 0 {
		return ""
	}
	shown := value.Clone()
	_ = shown.Indent(jsontext.WithIndent("  ")) // what is not JSON is shown as it is
	return legible.Source(string(shown))
}

// reviewForm records the review of the definition that was shown.
func (s *Server) reviewForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	q := api.ReviewRequest{
		Tool: r.PathValue("tool"), Digest: r.PostForm.Get("digest"), Class: utp.Class(r.PostForm.Get("class")), Risk: utp.Risk(r.PostForm.Get("risk")),
	}
	if q.Digest == "" || !q.Class.Valid() || !q.Risk.Valid() {
		return refuse(api.KindInvalid, "the form does not say what was reviewed, or in which class and risk", "go back to the tool and try again")
	}
	n, err := s.review(r.Context(), v, q)
	if err != nil {
		return err
	}
	s.backTo(w, r, v, page.Tool{Name: q.Tool}.Address()+"#notice", n)
	return nil
}

func (s *Server) review(ctx context.Context, v visitor, q api.ReviewRequest) (page.Notice, error) {
	var t api.ToolDetail
	err := s.asks(v)(ctx, api.OpReview, q, &t)
	if refusal, is := errors.AsType[*Refusal](err); is && refusal.Kind == api.KindConflict {
		return page.Notice{Refused: true, Text: "Nothing is recorded: the definition has changed since you looked at it. It is shown as it is now."}, nil
	}
	if err != nil {
		return page.Notice{}, err
	}
	row := toolRow(t)
	return page.Notice{Text: "Recorded: " + row.Name + " is " + row.State + ", " + row.Counts + "."}, nil
}
