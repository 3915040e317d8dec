package mcp_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/gateway/mcp"
	"github.com/earshot-dev/earshot/utp"
)

// library has two servers with resources and prompts. Of the second nobody has reviewed what it lists.
func library() *earshot {
	e := &earshot{}
	for _, server := range []string{"hub", "den"} {
		for _, what := range []string{"list_resources", "read_resource", "list_prompts", "get_prompt"} {
			e.tools = append(e.tools, note(server+"."+what, utp.Read, server == "den"))
		}
	}
	e.invoke = func(_ int, q api.AgentInvoke, _ time.Duration) (api.AgentCall, error) {
		switch q.Tool {
		case "hub.list_resources":
			return ended("c_1", `{"resources":[{"uri":"hub://one","name":"one"}],"resourceTemplates":[{"uriTemplate":"hub://more/{x}","name":"more"}]}`), nil
		case "hub.list_prompts":
			return ended("c_2", `{"prompts":[{"name":"greet","arguments":[{"name":"whom","required":true}]}]}`), nil
		case "hub.read_resource":
			if strings.Contains(string(q.Args), "secret") {
				return api.AgentCall{ID: "c_3", State: api.CallEnded, Status: "canceled", Code: "consent_declined", Message: "The person said no."}, nil
			}
			return ended("c_3", `{"contents":[{"uri":"hub://one","mimeType":"text/plain","text":"the text"}]}`), nil
		case "hub.get_prompt":
			return ended("c_4", `{"messages":[{"role":"user","content":{"type":"text","text":"Greet Anna."}}]}`), nil
		}
		return waiting, nil
	}
	return e
}

func (h *host) reads(uri string) (string, error) {
	r, err := h.ReadResource(h.t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	return r.Contents[0].Text, nil
}

// seesLibrary has a host list and read all that there is.
func (h *host) seesLibrary() {
	h.t.Helper()
	resources, err := h.ListResources(h.t.Context(), nil)
	if err != nil || len(resources.Resources) != 1 || resources.Resources[0].URI != "hub://one" {
		h.t.Errorf("the resources are %+v, %v", resources, err)
	}
	templates, err := h.ListResourceTemplates(h.t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		h.t.Errorf("the templates are %+v, %v", templates, err)
	}
	prompts, err := h.ListPrompts(h.t.Context(), nil)
	if err != nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Name != "hub_greet" || len(prompts.Prompts[0].Arguments) != 1 {
		h.t.Errorf("the prompts are %+v, %v", prompts, err)
	}
	for _, uri := range []string{"hub://one", "hub://more/7"} {
		if text, err := h.reads(uri); err != nil || text != "the text" {
			h.t.Errorf("%s is %q, %v", uri, text, err)
		}
	}
	if _, err := h.reads("hub://more/secret"); err == nil || !strings.Contains(err.Error(), "The person said no.") {
		h.t.Errorf("after a no it is %v", err)
	}
	if text, err := h.reads("den://one"); err == nil {
		h.t.Errorf("what is not listed is %q", text)
	}
	p, err := h.GetPrompt(h.t.Context(), &sdk.GetPromptParams{Name: "hub_greet", Arguments: map[string]string{"whom": "Anna"}})
	if err != nil || p.Messages[0].Content.(*sdk.TextContent).Text != "Greet Anna." {
		h.t.Errorf("the prompt is %+v, %v", p, err)
	}
	if _, err := h.GetPrompt(h.t.Context(), &sdk.GetPromptParams{Name: "den_greet"}); err == nil {
		h.t.Error("a prompt that is not listed is there")
	}
}

// TestBeside: a host has the resources and prompts of the servers behind Earshot. Each is listed and read by a call; what a person would
// be asked about is not listed.
func TestBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := library()
		h := join(t, e)
		defer h.leave()
		h.seesLibrary()
		if noted := e.all(); strings.Contains(noted, "invoke den.") || strings.Count(noted, "invoke hub.list_") != 2 ||
			!strings.Contains(noted, `invoke hub.read_resource {"uri":"hub://one"}`) || !strings.Contains(noted, `invoke hub.get_prompt {"arguments":{"whom":"Anna"},"name":"greet"}`) {
			t.Errorf("asked for was\n%s", noted)
		}
		for _, call := range []string{"c_1", "c_2", "c_3", "c_4"} {
			if !strings.Contains(e.all(), "received "+call) {
				t.Errorf("that %s was received is not said\n%s", call, e.all())
			}
		}
		pass(2 * time.Minute)
		if _, err := h.ListResources(t.Context(), nil); err != nil || strings.Count(e.all(), "invoke hub.list_resources") != 2 {
			t.Errorf("later it is not listed again: %v\n%s", err, e.all())
		}
	})
}

// TestBesideHTTP: the same at an address.
func TestBesideHTTP(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		s := loopback(t, library(), mcp.HTTPOptions{})
		h := s.join(version, "A Host", "secret-1")
		h.seesLibrary()
	})
}

// TestBesideOpen: a resource for which a person is asked is read once they have said yes. Until then the host hears what it waits for.
func TestBesideOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := library()
		answers := e.invoke
		yes := false
		e.invoke = func(n int, q api.AgentInvoke, wait time.Duration) (api.AgentCall, error) {
			if q.Tool == "hub.read_resource" && !yes {
				return waiting, nil
			}
			return answers(n, q, wait)
		}
		e.wait = func(int, string, time.Duration) (api.AgentCall, error) { return waiting, nil }
		h := join(t, e)
		defer h.leave()
		if _, err := h.reads("hub://one"); err == nil || !strings.Contains(err.Error(), "Question 7 waits for a person's answer.") {
			t.Errorf("before the yes it is %v", err)
		}
		yes = true
		if text, err := h.reads("hub://one"); err != nil || text != "the text" {
			t.Errorf("after the yes it is %q, %v", text, err)
		}
	})
}
