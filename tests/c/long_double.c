/*
 * A calculator for x87 numbers: the result of the C compiler's long double for each line.
 *
 * Input:  operation, then the operands as mantissa and sign-exponent, in hexadecimal.
 * Output: one line each; numbers as in the input, or "nan".
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(LDBL_MANT_DIG == 64, "long double must be an x87 number");

static long double number(uint64_t mantissa, uint16_t sign_exponent)
{
	long double value = 0;

	memcpy(&value, &mantissa, sizeof(mantissa));
	memcpy((char *) &value + sizeof(mantissa), &sign_exponent, sizeof(sign_exponent));
	return value;
}

static void print(long double value)
{
	uint64_t mantissa;
	uint16_t sign_exponent;

	if (isnan(value)) {
		puts("nan");
		return;
	}
	memcpy(&mantissa, &value, sizeof(mantissa));
	memcpy(&sign_exponent, (char *) &value + sizeof(mantissa), sizeof(sign_exponent));
	printf("%016" PRIx64 " %04" PRIx16 "\n", mantissa, sign_exponent);
}

int main(void)
{
	char operation;
	uint64_t mantissa[2];
	uint16_t sign_exponent[2];

	while (scanf(" %c %" SCNx64 " %" SCNx16 " %" SCNx64 " %" SCNx16, &operation, &mantissa[0],
		     &sign_exponent[0], &mantissa[1], &sign_exponent[1]) == 5) {
		volatile long double a = number(mantissa[0], sign_exponent[0]);
		volatile long double b = number(mantissa[1], sign_exponent[1]);
		double as_double;
		uint64_t bits;

		switch (operation) {
		case '+':
			print(a + b);
			break;
		case '-':
			print(a - b);
			break;
		case '*':
			print(a * b);
			break;
		case '/':
			print(a / b);
			break;
		case '?':
			puts(a < b ? "less" : a > b ? "greater" : "equal");
			break;
		case 'd': /* to double */
			as_double = (double) a;
			memcpy(&bits, &as_double, sizeof(bits));
			printf("%016" PRIx64 "\n", bits);
			break;
		case 'f': /* from double, whose bits are the mantissa */
			memcpy(&as_double, &mantissa[0], sizeof(as_double));
			print((long double) as_double);
			break;
		case 'u': /* to an unsigned number; the caller must stay in the range */
			printf("%" PRIu64 "\n", (uint64_t) a);
			break;
		case 'p': /* printed with as many decimals as b's mantissa */
			printf("%.*Lf\n", (int) mantissa[1], a);
			break;
		default:
			return 1;
		}
	}
	return 0;
}
