package usage_test

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/usage"
)

// A flag that there is not is refused, with the one that is near.
func Example() {
	c := &cobra.Command{Use: "run", Args: usage.One("the folder"), RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
	c.Flags().Bool("sample", false, "")
	c.SetFlagErrorFunc(usage.UnknownFlag)
	c.SetArgs([]string{"--smaple"})
	failure, _ := errors.AsType[*cause.Error](c.Execute())
	fmt.Println(failure.Message)
	fmt.Println(failure.Hint)
	// Output:
	// there is no flag --smaple
	// did you mean --sample? See `run --help`
}

// Flags that exclude each other are named.
func ExampleUnworded() {
	c := &cobra.Command{Use: "list", RunE: func(*cobra.Command, []string) error { return nil }, SilenceErrors: true, SilenceUsage: true}
	c.Flags().Bool("all", false, "")
	c.Flags().Int("limit", 0, "")
	c.MarkFlagsMutuallyExclusive("limit", "all")
	c.SetArgs([]string{"--all", "--limit", "3"})
	fmt.Println(usage.Unworded(c.Execute()))
	// Output: --all and --limit do not go together
}
