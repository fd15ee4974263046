/*
 * Calls the functions of assembly.S from compiled code, each with a callback, so that code with CFI
 * is above and below them on the stack.
 */
typedef void callback(void);

void cfa_in_register(callback *f);
void cfa_expression(callback *f);
void address_in_register(callback *f);
void remembered(callback *f, long early);
void without_cfi(callback *f);

static volatile int count;

static void back(void)
{
	count++;
}

__attribute__((noinline)) static void nested(void)
{
	without_cfi(back);
	count++;
}

/* Code without CFI in between would lose the registers that these two functions need. */
__attribute__((noinline)) static void nested_with_cfi(void)
{
	remembered(back, 1);
	count++;
}

int main(void)
{
	cfa_in_register(nested_with_cfi);
	cfa_expression(nested_with_cfi);
	address_in_register(back);
	remembered(nested, 0);
	remembered(nested, 1);
	without_cfi(nested);
	return count != 11;
}
