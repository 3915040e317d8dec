package main

import (
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestManualPage checks a whole page: nothing in a text counts as a request of roff, and examples keep their lines.
func TestManualPage(t *testing.T) {
	t.Parallel()
	root := &cobra.Command{Use: "earshot", Short: "Run", Run: func(*cobra.Command, []string) {}}
	c := &cobra.Command{
		Use: "send WHAT", Short: "Send with `up`", Run: root.Run, Example: "  earshot send 'C:\\x'\n  earshot send -",
		Long: "Send it.\n.hidden files, too: `earshot up\n--all`.\n\n  earshot send\n  earshot up\n\n#### More:\n\nEnd",
	}
	c.Flags().StringP("to", "t", "", "to whom: 'a*'")
	c.Flags().Bool("secret", false, "")
	if err := c.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	root.AddCommand(c)
	want := `.nh
.TH "EARSHOT\-SEND" "1" "Nov 2026" "earshot" "User Commands"
.SH NAME
earshot\-send \- Send with up
.SH SYNOPSIS
\fBearshot send WHAT [flags]\fP
.SH DESCRIPTION
Send it.
\&.hidden files, too: \fBearshot up
\-\-all\fP.
.PP
.EX
  earshot send
  earshot up
.EE
.PP
.SS More:
.PP
End
.SH OPTIONS
.TP
\fB\-h\fP, \fB\-\-help\fP[=false]
help for send
.TP
\fB\-t\fP, \fB\-\-to\fP=""
to whom: 'a*'
.SH EXAMPLE
.EX
  earshot send 'C:\ex'
  earshot send \-
.EE
.SH SEE ALSO
\fBearshot\fP(1)
`
	if page := manualPage(c, time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)); page != want {
		t.Errorf("the page is\n%s\nand not\n%s", page, want)
	}
}
