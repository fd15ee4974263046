#!/usr/bin/perl
# Collapses the output of `perf script` to one line a stack, as stackcollapse-perf.pl of FlameGraph does by default: comm,
# then functions from root to leaf without their offsets. Our own, since that one is not everywhere; it does less.
use strict;
use warnings;

my ($comm, @stack, %count);
while (<STDIN>) {
	chomp;
	if ($_ eq '') {
		$count{join(';', $comm, reverse @stack)}++ if defined $comm;
		($comm, @stack) = (undef);
	} elsif (/^\s*[0-9a-f]+ (.+) \((.*)\)$/) {
		my ($name, $dso) = ($1, $2);
		$name =~ s/\+0x[0-9a-f]+$//;
		$name = "[$dso]" if $name eq '[unknown]' and $dso ne '[unknown]';
		$name =~ tr/;/:/;
		push @stack, $name;
	} elsif (/^(\S.*?)\s+(-?\d+\/*\d*)\s/) {
		($comm, @stack) = ($1 =~ tr/ /_/r);
	}
}
$count{join(';', $comm, reverse @stack)}++ if defined $comm;
print "$_ $count{$_}\n" for sort keys %count;
