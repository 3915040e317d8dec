package service_test

import (
	"context"
	"strings"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
)

// A whole tool service: the main function of a program that counts words.
//
//nolint:testableexamples // TestExample runs it, as a process of its own.
func Example() {
	type Args struct {
		Text string `json:"text" description:"The text whose words are counted." maxLength:"100000"`
	}
	type Count struct {
		Words int `json:"words"`
	}
	count := func(_ context.Context, _ *tool.Call, args Args) (Count, error) {
		return Count{Words: len(strings.Fields(args.Text))}, nil
	}
	service.Main(tool.Must(tool.Func(utp.Definition{
		Tool: "words.count", Description: "Count the words of a text.", Class: utp.Read,
	}, count)))
}
