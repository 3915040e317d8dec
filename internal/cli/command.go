package cli

import "github.com/spf13/cobra"

// Command is one of the program's commands. It is made when it is called, or when all are listed.
type Command struct {
	Name string
	New  func() *cobra.Command // its name is Name
}
