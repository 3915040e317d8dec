package policyfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/utp"
)

// What the file makes stricter counts in the instant in which it is written.
func Example() {
	folder, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "policy.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	write("rules: []\n")
	policy, err := policyfile.Open(path)
	if err != nil {
		panic(err)
	}
	paint := store.Tool{Definition: utp.Definition{Tool: "paint"}, Class: utp.Irreversible, Risk: utp.RiskHigh}
	fmt.Println(policy.Decide("tidy", paint).Decision)
	write("rules:\n  - {tool: paint, decide: deny}\n")
	fmt.Println(policy.Decide("tidy", paint).Decision)
	// Output:
	// ask
	// deny
}
