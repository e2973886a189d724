#include <tokenroof/units/literals.hpp>
#include <tokenroof/workload/workload.hpp>

int main() {
  using namespace tokenroof::literals;
  const tokenroof::Workload workload{.prompt = 2048_tok, .output = 256_tok};
  return tokenroof::final_context(workload) == 2303_tok ? 0 : 1;
}
